"""Which node firmware belongs to that says who it is."""

import pytest

from provisioner.models.boot import Caller
from provisioner.models.lifecycle import State
from provisioner.placement.callers import is_said_by
from provisioner.placement.macs import canonical
from provisioner.placement.serials import uuid_forms
from tests.pure.samples import node

UUID, SERIAL = "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b", "MX1201C4"
NODE = node(State.BOOTING, uuid=UUID, serial=SERIAL)


@pytest.mark.parametrize(
    ("caller", "is_node"),
    [
        (Caller(uuid=UUID.upper(), serial="chassis serial"), True),
        (Caller(uuid="2e4c5c0f-0f6f-444a-9a53-1d2f6f4f5a6b", serial=""), True),
        (Caller(uuid="11111111-2222-3333-4444-555566667777", serial="mx1201c4 "), True),
        (Caller(uuid="", serial=""), True),
        (Caller(uuid="00000000-0000-0000-0000-000000000000", serial="To be filled by O.E.M."), True),
        (Caller(uuid="11111111-2222-3333-4444-555566667777", serial="MX9909C4"), False),
        (Caller(uuid="11111111-2222-3333-4444-555566667777", serial=""), False),
        (Caller(uuid="", serial="MX9909C4"), False),
    ],
)
def test_through_a_nodes_port_the_uuid_or_the_serial_number_says_that_it_is_the_node(
    caller: Caller, is_node: bool
) -> None:
    """A card that was moved to another server is not taken for its old one; a board without a name is by its card."""
    assert is_said_by(NODE, caller) == is_node


def test_a_node_that_has_never_said_who_it_is_is_known_by_its_port_alone() -> None:
    assert not is_said_by(node(State.BOOTING), Caller(uuid=UUID, serial=SERIAL))
    assert is_said_by(node(State.BOOTING), Caller())


@pytest.mark.parametrize(
    ("uuid", "forms"),
    [
        (f" {UUID.upper()} ", (UUID, "2e4c5c0f-0f6f-444a-9a53-1d2f6f4f5a6b")),
        ("no uuid", ("no uuid",)),
        ("", ("",)),
    ],
)
def test_a_uuid_is_kept_in_one_of_two_byte_orders(uuid: str, forms: tuple[str, ...]) -> None:
    """DSP0134, 7.2.1: little-endian in the first three fields since SMBIOS 2.6."""
    assert uuid_forms(uuid) == forms


@pytest.mark.parametrize(
    ("mac", "known"),
    [
        ("52:54:00:AB:cd:01", "52:54:00:ab:cd:01"),
        ("52-54-00-AB-CD-01", "52:54:00:ab:cd:01"),
        ("5254.00ab.cd01", "52:54:00:ab:cd:01"),
        ("525400abcd01", "52:54:00:ab:cd:01"),
        ("00:00:00:00:00:00", None),
        ("ff:ff:ff:ff:ff:ff", None),
        ("52:54:00:ab:cd", None),
        ("52:54:00:ab:cd:0g", None),
        ("", None),
        ("١٢:34:56:78:9a:bc", None),
    ],
)
def test_an_address_is_the_same_however_it_is_written(mac: str, known: str | None) -> None:
    assert canonical(mac) == known
