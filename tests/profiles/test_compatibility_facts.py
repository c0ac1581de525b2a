"""The file of facts: complete, consistent, and refused with lines when somebody breaks it."""

from pathlib import Path

import pytest

from profiles.compat.facts import CompatibilityFacts
from profiles.compat.load import SHIPPED, load_facts
from profiles.compat.versions import parse_prefix, parse_version
from profiles.findings import ProfileError
from tests.profiles.setups import FACTS


def broken(folder: Path, old: str, new: str) -> str:
    """Return what is told about the shipped facts with one place changed."""
    text = SHIPPED.read_text()
    assert old in text
    path = folder / "facts.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ProfileError) as caught:
        load_facts(path)
    line = text[: text.index(old)].count("\n") + 1
    assert str(caught.value).startswith(f"{path}:{line}: ")
    return str(caught.value).removeprefix(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("sources: [S2, S6, S7]", "sources: [S2, S6, S99]", 'driver_branches[4].sources[2]: "S99" is not in this file'),
        ("type: DEV,", "type: DVE,", 'driver_branches[3].type: "DVE" is not in this file; did you mean "DEV"?'),
        ("{branch: 460,", "{branch: 455,", "driver_branches[4].branch: 455 comes after 455"),
        ('capability: "9.0"', 'capability: "9.1"', 'gpus.list[21].capability: "9.1" is not in this file'),
        ("architecture: Volta", "architecture: Vola", 'gpus.list[7].architecture: "Vola" is not in this file'),
        ("gpus: [B300]", "gpus: [B301]", 'platforms[4].gpus[0]: "B301" is not in this file'),
        ("needs: [nvidia-imex]", "needs: [imex]", 'platforms[5].needs[0]: "imex" is not in this file'),
        (
            'end_of_life: "2029-09"',
            'end_of_life: "2029-13"',
            "driver_branches[26].end_of_life: '2029-13' does not match",
        ),
        (
            'cuda: "13.5"',
            "cuda: 13.5",
            "driver_branches[26].cuda: 13.5 is read by YAML as a number, not as text; quote it",
        ),
        ("open_modules: only", "open_modules: sole", "driver_branches[26].open_modules: 'sole' is not one of none"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert broken(tmp_path, old, new).startswith(told)


def test_every_toolkit_ships_with_a_branch_that_is_native_to_it() -> None:
    """Release notes: the floor of a toolkit is a driver of the branch that ships with it."""
    native = {branch.branch: parse_prefix(branch.cuda) for branch in FACTS.driver_branches}
    for release, floor in FACTS.toolkits.releases.items():
        if floor:
            assert native[parse_version(floor)[0]] == parse_prefix(release)[:2], release


def test_floors_rise_with_toolkits_and_natives_with_branches() -> None:
    releases = sorted((parse_prefix(name), floor) for name, floor in FACTS.toolkits.releases.items() if floor)
    floors = [parse_version(floor) for _, floor in releases]
    assert floors == sorted(floors)
    natives = [parse_prefix(branch.cuda) for branch in FACTS.driver_branches]
    assert natives == sorted(natives)


def test_versions_belong_to_their_branch() -> None:
    for branch in FACTS.driver_branches:
        seen = [parse_version(one.version) for one in (branch.first_seen, branch.last_seen) if one]
        assert {version[0] for version in seen} <= {branch.branch}
        assert seen == sorted(seen)


def test_a_preview_is_no_release() -> None:
    assert not set(FACTS.toolkits.previews) & set(FACTS.toolkits.releases)


def test_an_architecture_begins_where_its_first_toolkit_is_native() -> None:
    """The explicit first branches agree with the toolkits."""
    for one in FACTS.architectures.list:
        if one.first_branch and one.cuda_first:
            branch = next(branch for branch in FACTS.driver_branches if branch.branch == one.first_branch)
            assert parse_prefix(branch.cuda) == parse_prefix(one.cuda_first), one.name


def test_editors_find_the_schema() -> None:
    first = SHIPPED.read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schemas/compat.schema.json"
    assert (SHIPPED.parent / first.partition("=")[2]).exists()


@pytest.mark.parametrize("text", ["", "580", "580.", ".95", "580..5", "580.95.05x", "-1.2", "580.95.0५", "R580.95.05"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not numbers between dots"):
        parse_version(text)


def test_the_facts_survive_their_own_json() -> None:
    assert CompatibilityFacts.model_validate_json(FACTS.model_dump_json()) == FACTS
