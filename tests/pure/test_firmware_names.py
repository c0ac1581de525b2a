"""Inventories whose ids are bare numbers: the names of their entries tell what they are."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.bundle import FirmwareBundle
from profiles.loader import SHIPPED, load_catalog
from provisioner.firmware.classes import Classes, matching
from provisioner.firmware.plan import plan_updates, unproven
from provisioner.models.inventory import FirmwareComponent
from tests.pure.samples import catalogued, part

HPE = load_catalog(SHIPPED).firmware_bundles["hpe-xl675d-2026-1"]
FACTORY = {
    "iLO 5": "2.70 May 16 2022",
    "System ROM": "A47 v2.58 (05/19/2022)",
    "Intelligent Platform Abstraction Data": "9.1.0 Build 27",
    "System Programmable Logic Device": "0x0F",
    "Chassis Firmware": "1.6.10",
    "Redundant System ROM": "A47 v2.58 (05/19/2022)",
    "HPE Smart Array P408i-a SR Gen10": "5.00",
}
OTHERS = ["Power Supply Firmware", "Network Controller", "NVIDIA A100-SXM4-40GB", "NVIDIA NV Switch", "iLO 5 Backup"]
GLOB = st.sampled_from(["*", "1", "[0-9]*", "iLO *", "System ROM", "*rom", "x"])
WORDS = st.sampled_from(["1", "2", "10", "iLO 5", "System ROM", "Redundant System ROM", "x", ""])


@st.composite
def numbered(draw: st.DrawFn) -> tuple[FirmwareComponent, ...]:
    """The parts of an XL675d and up to six more, numbered in any order, with gaps."""
    more = [(name, "1.0") for name in draw(st.lists(st.sampled_from(OTHERS), max_size=6))]
    parts = draw(st.permutations([*FACTORY.items(), *more]))
    ids = sorted(draw(st.sets(st.integers(1, 40), min_size=len(parts), max_size=len(parts))))
    return tuple(
        replace(part(str(number), version), name=name) for number, (name, version) in zip(ids, parts, strict=True)
    )


@given(numbered())
def test_each_package_goes_to_the_part_with_its_name_however_it_is_numbered(
    inventory: tuple[FirmwareComponent, ...],
) -> None:
    """A second power supply moves all ids behind it (iLO numbers what it finds)."""
    plan = plan_updates(HPE, inventory)
    assert plan.refusals == ()
    names = {one.uri: one.name for one in inventory}
    assert {update.component: [names[uri] for uri in update.parts] for update in plan.updates} == {
        "bmc": ["iLO 5"],
        "bios": ["System ROM"],
        "ipad": ["Intelligent Platform Abstraction Data"],
        "cpld": ["System Programmable Logic Device"],
        "chassis": ["Chassis Firmware"],
        "storage": ["HPE Smart Array P408i-a SR Gen10"],
    }


@given(numbered(), st.sampled_from([name for name in FACTORY if name != "Redundant System ROM"]))
def test_a_number_whose_name_is_another_is_never_taken_for_the_part(
    inventory: tuple[FirmwareComponent, ...], gone: str
) -> None:
    """The part is missed by its name, and nothing else is flashed in its place."""
    left = tuple(replace(one, name="Something Else") if one.name == gone else one for one in inventory)
    plan = plan_updates(HPE, left)
    (told,) = plan.refusals
    assert "and a name like" in told
    flashed = {uri for update in plan.updates for uri in update.parts}
    assert not [one for one in left if one.name == "Something Else" and one.uri in flashed]
    assert told.split(":")[0] in unproven(HPE, left)


@given(
    st.lists(GLOB, min_size=1, max_size=2).map(tuple),
    st.lists(GLOB, max_size=2).map(tuple),
    st.lists(st.tuples(WORDS, WORDS), max_size=6),
)
def test_a_part_belongs_by_its_id_and_by_its_name_where_names_are_given(
    ids: tuple[str, ...], names: tuple[str, ...], said: list[tuple[str, str]]
) -> None:
    """Any of one and any of the other, whatever their case."""
    bundle = _bundle(ids, names)
    inventory = [replace(part(identifier, "1"), name=name) for identifier, name in said]
    expected = [one for one in inventory if _any(one.id, ids) and (not names or _any(one.name, names))]
    assert list(matching(bundle.components[0], inventory)) == expected
    assert Classes(bundle).parts(inventory) == [expected]


def _bundle(ids: tuple[str, ...], names: tuple[str, ...]) -> FirmwareBundle:
    fields = {"name": "c", "glob": "*", "version": "1", "releases": ["1"], "activation": "none"}
    return catalogued({**fields, "inventory": ids, "names": names})


def _any(said: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(said.lower(), glob.lower()) for glob in globs)
