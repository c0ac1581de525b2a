"""What a node boots now, and how it is told to."""

from itertools import product

import pytest

from provisioner.boot.answer import BootImage, LeaveNetworkBoot, answer
from provisioner.boot.choose import choose_method
from provisioner.models.boot import BootMethod, BootTicket
from provisioner.models.inventory import BootAbilities
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from tests.pure.samples import hold, node, ticket

UNUSED, USED = ticket(), ticket(boot_id="boot-1")
URI = Secret("http://site/boot/key")


@pytest.mark.parametrize(("state", "one"), list(product(State, [None, UNUSED, USED])))
def test_only_a_node_that_is_to_be_installed_gets_an_image(state: State, one: BootTicket | None) -> None:
    """One in production never boots into a burn-in by accident."""
    installs = state in {State.BOOTING, State.BURNING_IN} and one is UNUSED
    decided = answer(node(state), one)
    assert isinstance(decided, BootImage) == installs
    if isinstance(decided, BootImage):
        assert decided.ticket is one
    else:
        assert decided.reason


@pytest.mark.parametrize(("state", "one"), list(product(State, [None, UNUSED, USED])))
def test_a_held_node_never_gets_an_image(state: State, one: BootTicket | None) -> None:
    """Also where a hold and the state that it is in contradict each other."""
    decided = answer(node(state, hold=hold()), one)
    assert isinstance(decided, LeaveNetworkBoot)
    assert "broken" in decided.reason


@pytest.mark.parametrize("one", [None, UNUSED, USED])
def test_a_stranger_leaves_network_boot(one: BootTicket | None) -> None:
    assert isinstance(answer(None, one), LeaveNetworkBoot)


def test_the_same_question_has_the_same_answer() -> None:
    """Firmware asks again and again; only the node's own report uses the permission up."""
    booting: Node = node(State.BOOTING)
    assert [answer(booting, UNUSED) for _ in range(3)] == [BootImage(UNUSED)] * 3


@pytest.mark.parametrize(
    ("targets", "http_boot_uri", "method"),
    [
        (("None", "Pxe", "UefiHttp"), True, BootMethod("UefiHttp", URI)),
        (("None", "Pxe", "UefiHttp"), False, BootMethod("Pxe", None)),
        (("UefiHttp",), False, None),
        (("None", "Pxe"), True, BootMethod("Pxe", None)),
        (("None", "Hdd"), True, None),
        ((), True, BootMethod("UefiHttp", URI)),
        ((), False, BootMethod("Pxe", None)),
    ],
)
def test_http_boot_first_where_somebody_can_say_what_to_fetch(
    targets: tuple[str, ...], http_boot_uri: bool, method: BootMethod | None
) -> None:
    """UefiHttp among the targets is not enough: without HttpBootUri nobody can say what."""
    assert choose_method(BootAbilities(targets, http_boot_uri), URI) == method
