"""Version strings as BMCs write them. Equality is safe after normalisation; order is never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner import versions

REPORTED = [
    "7.10.30.00", "1.7.5F",  # Dell
    "2.72 Sep 04 2022", "2.25 (10/02/2023)",  # HPE: the date is part of it
    "42S-2.83", "22J-1.51",  # Lenovo
    "BIOS Date: 08/04/2023 Ver 1.4", "01.00.26", "F5.11.CB",  # Supermicro: date before version
    "24.09.17", "1.00.0A", "0.1C", "0.112",  # DGX: segments that look hexadecimal
    "96.00.61.00.01", "97.00.6C.00.03", "97.00.0c.00.00",  # GPU VBIOS
    "HGX-22.10-1-rc34", "HGX-22.10-1-rc80", "GB200Nvl-24.12-8", "gb200nvl-24.08-2", "GB200Nvl-25.01-E",
    "00.02.0134.0000_n00", "0x00 0x0b 0x03 0x04", "312e3041",  # ERoT and FPGA; the last is ASCII of 1.0A
    "buildbrain-gcid-38635631", "v2.2(release):4.9.0-25-g0ce57e322",
    "bf-bundle-2.9.0-90_24.10_ubuntu-22.04_prod", "28.39.4082-LTS", "CPLD000370_REV0600", "0204.0201.0202",
]  # fmt: skip
MISSING = [None, "", "  ", "\0\0", "Not Present", "version not available", "-*", "null", "N/A", "unknown", "None"]

texts = st.text() | st.sampled_from(REPORTED)


@given(texts)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = versions.normalise(text)
    assert versions.normalise(once) == once


@given(texts)
def test_equal_is_reflexive_but_for_what_is_missing(text: str) -> None:
    assert versions.equal(text, text) is not versions.is_missing(text)


@given(texts, texts)
def test_equal_is_symmetric(one: str, other: str) -> None:
    assert versions.equal(one, other) == versions.equal(other, one)


@given(texts, texts, texts)
def test_equal_is_transitive(one: str, two: str, three: str) -> None:
    if versions.equal(one, two) and versions.equal(two, three):
        assert versions.equal(one, three)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("wanted", ["", "n/a", "-*", *REPORTED[:3]])
def test_a_missing_version_equals_nothing(missing: str | None, wanted: str) -> None:
    """Absent or silent, never old and never right."""
    assert versions.is_missing(missing)
    assert not versions.equal(missing, wanted)


@pytest.mark.parametrize("reported", REPORTED)
def test_a_version_equals_itself_alone(reported: str) -> None:
    """Zeros, prefixes, dates and suffixes all count."""
    assert not versions.is_missing(reported)
    assert [other for other in REPORTED if versions.equal(reported, other)] == [reported]


@pytest.mark.parametrize(
    ("reported", "wanted"),
    [
        ("97.00.0c.00.00 ", "97.00.0C.00.00"),
        ("gb200nvl-25.01-e", "GB200Nvl-25.01-E"),
        (" 2.72  Sep 04\t2022", "2.72 Sep 04 2022"),
        ("F5.11.CB\0\0", "F5.11.CB"),
    ],
)
def test_case_blanks_and_nuls_do_not_count(reported: str, wanted: str) -> None:
    assert versions.equal(reported, wanted)


@pytest.mark.parametrize(
    ("one", "other"), [("0.1C", "0.112"), ("1.00.0A", "1.0.A"), ("24.09.17", "24.9.17"), ("312e3041", "1.0A")]
)
def test_nothing_is_guessed(one: str, other: str) -> None:
    assert not versions.equal(one, other)


def test_a_pattern_takes_out_what_is_compared() -> None:
    pattern = r"Ver (\S+)\s*$"
    assert versions.equal("BIOS Date: 08/04/2023 Ver 1.4", "1.4", pattern)
    assert not versions.equal("BIOS Date: 08/04/2023 Ver 1.4a", "1.4", pattern)
    assert not versions.equal("BIOS Date: 08/04/2023", "1.4", pattern)
    assert versions.extract("no such thing", pattern) == "no such thing"


@given(st.text())
def test_a_string_that_the_pattern_does_not_fit_never_equals_by_accident(text: str) -> None:
    assert not versions.equal(f"<{text}>", "1.4", r"^(1\.4)$")
