"""What counts as a serial number."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.placement import serials

PLACEHOLDERS = [
    "", "   ", "To be filled by O.E.M.", "To Be Filled By O.E.M", "0123456789", "123456789", "1234567890", "00000000",
    "0000000000000", "System Serial Number", "Chassis Serial Number", "Base Board Serial Number", "Serial Number",
    "Default string", "Not Specified", "Not Available", "N/A", "NA", "None", "OEM", "INVALID", "xxxxxxxxxxx",
    "........", "9876543210", "ABCDEFGH", "123", "unknown", "Type2 - Board Serial Number",
]  # fmt: skip
"""As found in SMBIOS tables and Redfish answers in the field."""

REAL = [
    "S452392X2715203",
    "7X8K2Y3",
    "MXQ2140ABC",
    "J302KB8A",
    "A1234567X",
    "5CG0123456",
    "SGH012345N",
    "1665121000100",
]

MOCKUPS = Path(__file__).parents[3] / "shared" / "mockups"


def recorded() -> set[str]:
    """Serial numbers of systems and chassis in recordings of real servers; the recorders have scrambled them."""
    found: set[str] = set()
    for path in (
        *MOCKUPS.glob("*/redfish/v1/Systems/*/index.json"),
        *MOCKUPS.glob("*/redfish/v1/Chassis/*/index.json"),
    ):
        document = json.loads(path.read_text(encoding="utf-8"))
        serial = document.get("SerialNumber")
        said = serial.strip().casefold() if isinstance(serial, str) else ""
        if said not in {"", "n/a", "na"} and not said.endswith("serialnumber"):  # one CPLD gives its field's name
            found.add(serial)
    return found


@pytest.mark.parametrize("serial", PLACEHOLDERS)
def test_a_placeholder_is_refused(serial: str) -> None:
    assert serials.is_placeholder(serial)


@pytest.mark.parametrize("serial", REAL)
def test_a_real_serial_is_not_refused(serial: str) -> None:
    assert not serials.is_placeholder(serial)


def test_no_recorded_serial_is_refused() -> None:
    if not MOCKUPS.is_dir():
        pytest.skip("the recorded servers are not on this machine")
    found = recorded()
    assert len(found) > 20
    assert {serial for serial in found if serials.is_placeholder(serial)} == set()


@given(st.sampled_from(PLACEHOLDERS), st.sampled_from(["", " ", "  "]))
def test_case_and_outer_blanks_do_not_count(serial: str, blanks: str) -> None:
    assert serials.is_placeholder(f"{blanks}{serial.upper()}{blanks}")
    assert serials.same(serial, f"{blanks}{serial.swapcase()}{blanks}")


@given(st.text(), st.text())
def test_sameness_is_symmetric(one: str, other: str) -> None:
    assert serials.same(one, one)
    assert serials.same(one, other) == serials.same(other, one)


@pytest.mark.parametrize(
    "uuid",
    [
        "00000000-0000-0000-0000-000000000000",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "03000200-0400-0500-0006-000700080009",
        "12345678-1234-5678-1234-567812345678",
        "",
        "not a uuid",
    ],
)
def test_constant_uuids_name_no_server(uuid: str) -> None:
    assert serials.is_placeholder_uuid(uuid)


@given(st.uuids(version=4))
def test_a_random_uuid_names_a_server(uuid: object) -> None:
    assert not serials.is_placeholder_uuid(str(uuid))
