"""Which of two firmware versions came first: by the catalog's rank or its scheme, and never by the look of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.component import FirmwareComponent, Scheme
from provisioner.versions import Verdict, is_missing, normalise, verdict
from tests.pure.test_versions import MISSING, REPORTED

OPPOSITE = {Verdict.OLDER: Verdict.NEWER, Verdict.NEWER: Verdict.OLDER}
EPOCHS = st.integers(0, 400)
dotted = st.lists(EPOCHS, min_size=1, max_size=5).map(lambda numbers: ".".join(map(str, numbers)))
same_length = st.integers(1, 4).flatmap(
    lambda length: st.tuples(*[st.lists(EPOCHS, min_size=length, max_size=length)] * 3)
)
schemes = st.sampled_from(Scheme)
texts = st.text() | st.sampled_from(REPORTED) | dotted


def wanted(version: str, *releases: str, scheme: Scheme = Scheme.NONE, extract: str | None = None) -> FirmwareComponent:
    """A component that should run `version`; `releases`: those of the catalog, oldest first."""
    artefact = {"file": "a.fw", "sha256": "0" * 64, "size_bytes": 1}
    component = FirmwareComponent.model_validate(
        {
            "component": "bmc",
            "inventory": ("BMC",),
            "activation": "bmc_reset",
            "expected_minutes": 5,
            "scheme": scheme,
            "extract": extract,
            "version": "any",
            "artefact": artefact,
            "releases": [{"version": release, "artefact": artefact} for release in releases],
        }
    )
    return component.model_copy(update={"version": version})


RANKED = [
    # component's releases, oldest first; pattern; reported; what it is beside the newest
    (["7.10.30.00", "7.20.10.50"], None, "7.10.30.00", Verdict.OLDER),
    (["1.7.5F", "1.9.5F"], None, "1.7.5F", Verdict.OLDER),
    (["1.7.5F", "1.9.5F"], None, "1.9.5", Verdict.UNKNOWN),
    (["2.72", "2.99"], r"^(\d+\.\d+)", "2.72 Sep 04 2022", Verdict.OLDER),
    (["2.72", "2.99"], r"^(\d+\.\d+)", "2.99 Feb 21 2024", Verdict.EQUAL),
    (["2.25", "3.10"], r"^(?:A47 v)?(\d+\.\d+)", "2.25 (10/02/2023)", Verdict.OLDER),
    (["42S-2.83", "58N-3.20"], None, "42S-2.83", Verdict.OLDER),
    (["22J-1.51", "28L-2.30"], None, "22J-1.51", Verdict.OLDER),
    (["42S-2.83", "58N-3.20"], None, "-*", Verdict.MISSING),
    (["22J-1.51", "28L-2.30"], None, None, Verdict.MISSING),
    (["1.4", "2.5"], r"Ver (\S+)$", "BIOS Date: 08/04/2023 Ver 1.4", Verdict.OLDER),
    (["1.4", "2.5"], r"Ver (\S+)$", "BIOS Date: 02/14/2025 Ver 2.5 \0\0", Verdict.EQUAL),
    (["1.4", "2.5"], r"Ver (\S+)$", "BIOS Date: 02/14/2025", Verdict.UNKNOWN),
    (["1.4", "2.5"], r"Ver (\S+)$", "BIOS Date: 02/14/2025 Ver N/A", Verdict.MISSING),
    (["01.00.26", "01.03.18"], None, "01.00.26", Verdict.OLDER),
    (["F5.11.CB", "F5.11.CD"], None, "f5.11.cb ", Verdict.OLDER),
    (["24.08.20", "24.09.17"], None, "24.09.17", Verdict.EQUAL),
    (["1.00.09", "1.00.0A"], None, "1.00.09", Verdict.OLDER),
    (["0.1C", "0.22"], None, "0.1C", Verdict.OLDER),
    (["0.1C", "0.22"], None, "0.112", Verdict.UNKNOWN),
    (["96.00.61.00.01", "96.00.BC.00.01"], None, "96.00.61.00.01", Verdict.OLDER),
    (["97.00.0C.00.00", "97.00.6C.00.03"], None, "97.00.0c.00.00  ", Verdict.OLDER),
    (["97.00.0C.00.00", "97.00.6C.00.03"], None, "97.00.6c.00.03", Verdict.EQUAL),
    (["HGX-22.10-1-rc34", "HGX-22.10-1-rc80"], None, "HGX-22.10-1-rc34", Verdict.OLDER),
    (["HGX-22.10-1-rc34", "HGX-22.10-1-rc80"], None, "HGX-22.10-1-rc57", Verdict.UNKNOWN),
    (["gb200nvl-24.08-2", "GB200Nvl-24.12-8", "GB200Nvl-25.01-E"], None, "GB200NVL-24.08-2", Verdict.OLDER),
    (["gb200nvl-24.08-2", "GB200Nvl-24.12-8", "GB200Nvl-25.01-E"], None, "GB200Nvl-24.12-8", Verdict.OLDER),
    (["gb200nvl-24.08-2", "GB200Nvl-24.12-8", "GB200Nvl-25.01-E"], None, "gb200nvl-25.01-e", Verdict.EQUAL),
    (["00.02.0134.0000", "00.02.0192.0000"], r"^(\S+)_n\d\d$", "00.02.0134.0000_n00", Verdict.OLDER),
    (["00.02.0134.0000", "00.02.0192.0000"], r"^(\S+)_n\d\d$", "00.02.0192.0000_n04", Verdict.EQUAL),
    (["0x00 0x0b 0x03 0x04", "0x00 0x0b 0x03 0x05"], None, "0x00 0x0B 0x03  0x04", Verdict.OLDER),
    (["312e3041", "312e3042"], None, "312E3041", Verdict.OLDER),
    (["1.0A", "1.0B"], None, "312e3041", Verdict.UNKNOWN),
    (["buildbrain-gcid-38635631"], None, "buildbrain-gcid-40000000", Verdict.UNKNOWN),
    (["v2.2(release):4.9.0-25-g0ce57e322"], None, "v2.2(release):4.9.1-25-g0ce57e322", Verdict.UNKNOWN),
    (["bf-bundle-2.9.0-90_24.10_ubuntu-22.04_prod"], None, "bf-bundle-2.9.1-90", Verdict.UNKNOWN),
    (["28.37.1014", "28.39.4082-LTS"], None, "28.37.1014", Verdict.OLDER),
    (["CPLD000370_REV0600", "CPLD000370_REV0700"], None, "CPLD000370_REV0600", Verdict.OLDER),
    (["0204.0201.0202"], None, "0204.0201.0201", Verdict.UNKNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("releases", "pattern", "reported", "expected"), RANKED, ids=repr)
def test_a_rank_in_the_catalog_is_the_order(
    releases: list[str], pattern: str | None, reported: str | None, expected: Verdict
) -> None:
    assert verdict(reported, wanted(releases[-1], *releases, extract=pattern)) == expected


def test_a_later_release_of_the_catalog_is_newer() -> None:
    assert verdict("HGX-22.10-1-rc80", wanted("HGX-22.10-1-rc34", "HGX-22.10-1-rc34", "HGX-22.10-1-rc80")) == "newer"


SCHEMES = [
    (Scheme.DOTTED_DECIMAL, "7.9.30.00", "7.10.30.00", Verdict.OLDER),
    (Scheme.DOTTED_DECIMAL, "7.20.10.50", "7.10.30.00", Verdict.NEWER),
    (Scheme.DOTTED_DECIMAL, "7.20.10", "7.10.30.00", Verdict.UNKNOWN),  # other segment count
    (Scheme.DOTTED_DECIMAL, "1.7.5F", "1.7.4", Verdict.UNKNOWN),  # Dell's letter
    (Scheme.DOTTED_DECIMAL, "01.04", "1.4", Verdict.UNKNOWN),  # same numbers, other words
    (Scheme.DOTTED_DECIMAL, "28.39.4082-LTS", "28.39.4082", Verdict.UNKNOWN),
    (Scheme.DOTTED_DECIMAL, "00.02.0134.0000_n00", "00.02.0192.0000", Verdict.UNKNOWN),
    (Scheme.DOTTED_DECIMAL, "24.08.20", "24.09.17", Verdict.OLDER),
    (Scheme.DOTTED_DECIMAL, "1.2", "1.٣", Verdict.UNKNOWN),  # a digit that is not ours
    (Scheme.DOTTED_DECIMAL, "1.+2", "1.1", Verdict.UNKNOWN),
    (Scheme.DOTTED_DECIMAL, "1.1_0", "1.9", Verdict.UNKNOWN),  # Python reads 1_0 as ten
    (Scheme.DOTTED_DECIMAL, "1." + "9" * 5000, "1.1", Verdict.UNKNOWN),  # longer than any number of a version
    (Scheme.DOTTED_DECIMAL, "1..2", "1.0.2", Verdict.UNKNOWN),
    (Scheme.DOTTED_HEX, "97.00.0c.00.00", "97.00.6C.00.03", Verdict.OLDER),
    (Scheme.DOTTED_HEX, "97.00.B9.00.69", "97.00.6C.00.03", Verdict.NEWER),
    (Scheme.DOTTED_HEX, "0.1C", "0.112", Verdict.OLDER),  # 28 and 274, where the catalog says hexadecimal
    (Scheme.DOTTED_HEX, "0x00 0x0b 0x03 0x04", "0x00 0x0b 0x03 0x05", Verdict.UNKNOWN),
    (Scheme.DOTTED_HEX, "HGX-22.10-1-rc34", "HGX-22.10-1-rc80", Verdict.UNKNOWN),
    (Scheme.NONE, "1.2", "1.3", Verdict.UNKNOWN),
]


@pytest.mark.parametrize(("scheme", "reported", "version", "expected"), SCHEMES, ids=lambda value: str(value)[:40])
def test_a_scheme_orders_what_it_can_read_whole(scheme: Scheme, reported: str, version: str, expected: Verdict) -> None:
    assert verdict(reported, wanted(version, scheme=scheme)) == expected


def test_a_rank_goes_before_the_scheme() -> None:
    """A vendor that restarts its numbers is right about its own order."""
    assert verdict("9.0", wanted("1.0", "9.0", "1.0", scheme=Scheme.DOTTED_DECIMAL)) == Verdict.OLDER


@pytest.mark.parametrize("reported", REPORTED)
@pytest.mark.parametrize("other", REPORTED)
def test_without_a_declaration_nothing_is_older_or_newer(reported: str, other: str) -> None:
    assert verdict(reported, wanted(other)) == (Verdict.EQUAL if reported == other else Verdict.UNKNOWN)


@pytest.mark.parametrize("missing", MISSING)
def test_no_version_is_missing_and_never_old(missing: str | None) -> None:
    assert verdict(missing, wanted("2.0", "1.0", "2.0", scheme=Scheme.DOTTED_DECIMAL)) == Verdict.MISSING


@given(texts, schemes)
def test_a_version_is_equal_to_itself(text: str, scheme: Scheme) -> None:
    assert verdict(text, wanted(text, scheme=scheme)) == (Verdict.MISSING if is_missing(text) else Verdict.EQUAL)


@given(texts, texts, schemes)
def test_older_is_the_other_way_round_newer_and_unknown_is_unknown_both_ways(
    one: str, other: str, scheme: Scheme
) -> None:
    if is_missing(one) or is_missing(other):
        return
    there, back = verdict(one, wanted(other, scheme=scheme)), verdict(other, wanted(one, scheme=scheme))
    assert back == OPPOSITE.get(there, there)


@given(same_length, st.sampled_from([Scheme.DOTTED_DECIMAL, Scheme.DOTTED_HEX]))
def test_a_scheme_is_transitive(numbers: tuple[list[int], ...], scheme: Scheme) -> None:
    ordered = sorted(set(map(tuple, numbers)))
    number = "{:x}" if scheme is Scheme.DOTTED_HEX else "{}"
    spelled = [".".join(map(number.format, one)) for one in ordered]
    for index, newer in enumerate(spelled):
        assert all(verdict(older, wanted(newer, scheme=scheme)) == Verdict.OLDER for older in spelled[:index])


@given(st.lists(st.sampled_from(REPORTED), unique_by=normalise, min_size=2))
def test_ranks_are_transitive_whatever_the_text(releases: list[str]) -> None:
    for index, newer in enumerate(releases):
        verdicts = [verdict(one, wanted(newer, *releases)) for one in releases]
        expected = [Verdict.OLDER] * index + [Verdict.EQUAL] + [Verdict.NEWER] * (len(releases) - index - 1)
        assert verdicts == expected


@given(texts, st.sampled_from(["", " ", "\0", "\t "]), schemes)
def test_case_and_space_around_change_no_verdict(text: str, around: str, scheme: Scheme) -> None:
    component = wanted("1.2", "1.1", "1.2", scheme=scheme)
    assert verdict(around + text.casefold() + around, component) == verdict(text, component)
