"""What makes staged firmware run: by the BMC's verb, by a person's hand, and never with somebody else in the box."""

import ast
import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.component import Activation, Domain
from profiles.release import Release
from provisioner.firmware.phase import Phase
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Hold
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains
from provisioner.services import nodes as services
from tests.operations.bounded import bounded
from tests.operations.invariants import assert_ended, assert_ready, assert_safe, assert_told
from tests.operations.server import Server
from tests.operations.site import Site, server

NAME = NodeName("r01-u01")
CUT = "hgx-bmc"


def changed(release: Release, **fields: Any) -> Release:
    """The board's firmware is activated otherwise."""
    components = [one.model_copy(update=fields) if one.component == CUT else one for one in release.firmware.components]
    firmware = release.firmware.model_copy(update={"components": tuple(components)})
    return release.model_copy(update={"firmware": firmware})


def with_cut(activation: Activation, name: str = "r01-u01", **fields: Any) -> Server:
    """A server whose board needs a cut of power."""
    one = server(name, **fields)
    release = changed(one.release, activation=activation)
    return Server(name=name, release=release, serial=one.serial, uuid=one.uuid, **fields)


def with_own_power(**fields: Any) -> Server:
    """Its catalog says that a power cycle of the host is enough, and for its board it is not."""
    one = server(str(NAME), **fields)
    for part in one.parts.values():
        if part.component.component == CUT:
            part.component = part.component.model_copy(update={"activation": Activation.AUX_CYCLE})
    return one


@bounded(15)
@given(st.sets(st.integers(1, 190), max_size=2))
def test_a_board_with_power_of_its_own_is_cycled_harder_once(crashes: set[int]) -> None:
    """A crash around it flashes nothing twice, and leads to no second step."""
    one = with_own_power()
    site = Site([one], crashes)
    (node,) = site.run()
    assert_ended(site, one, node)
    assert_ready(site, one, node)
    assert set(one.flashed.values()) == {1}
    tried = [len(entry.activations) for entry in site.journal.entries.values() if entry.what.component == CUT]
    assert tried == [2]


def test_what_was_not_planned_takes_no_neighbour_in_production_down() -> None:
    """Two nodes in one chassis (dsx-ai-factory/infra-controller#3480): the catalog says that the host is enough."""
    one, other = with_own_power(), server("r01-u02")

    async def act(site: Site) -> None:
        for name in (NAME, NodeName("r01-u02")):
            node, visited = site.nodes.rows[name]
            moved = replace(node, domains=Domains(chassis="box-7"))
            site.nodes.rows[name] = (
                moved if name == NAME else replace(moved, state=State.IN_PRODUCTION),
                visited,
            )
        await asyncio.sleep(1)

    site = Site([one, other], people=act)
    node = next(found for found in site.run(hours=12) if found.name == NAME)
    assert_safe(site, one)
    assert node.hold is not None, site.events_of(NAME)
    assert_told(node.hold.instruction)
    assert node.hold.reason.startswith("aux_cycle waits: ")
    assert "r01-u02" in node.hold.reason
    entry = next(found for found in site.journal.entries.values() if found.what.component == CUT)
    assert entry.phase is Phase.VERIFYING
    assert other.violations == []


@bounded(15)
@given(st.sets(st.integers(1, 170), max_size=2))
def test_standby_power_is_cut_by_the_verb_with_the_host_off(crashes: set[int]) -> None:
    """One cut makes everything of the stage run; a crash around it flashes nothing twice."""
    one = with_cut(Activation.AUX_CYCLE)
    site = Site([one], crashes)
    (node,) = site.run()
    assert_ended(site, one, node)
    assert_ready(site, one, node)
    assert set(one.flashed.values()) == {1}


def test_a_cut_that_no_verb_makes_is_a_persons() -> None:
    """Told what to pull; after the release the device is read, and nothing is flashed again."""
    one = with_cut(Activation.AC_CYCLE, cycles={})
    told: list[Hold | None] = []

    async def act(site: Site) -> None:
        while (node := await site.nodes.get(NAME)).hold is None:  # noqa: ASYNC110  the reconciler holds it
            await asyncio.sleep(60)
        told.append(node.hold)
        await services.release(site.world, NAME, "kim")  # too early: nothing was pulled
        await asyncio.sleep(1800)
        told.append((await site.nodes.get(NAME)).hold)
        one.cycles = {Activation.AC_CYCLE: False}
        one.cycle(Activation.AC_CYCLE)
        one.cycles = {}
        await services.release(site.world, NAME, "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)
    for hold in told:
        assert hold is not None
        assert_told(hold.instruction)
        assert "every power cord" in hold.instruction.what
        assert CUT in hold.reason
    assert told[1] is not None
    assert "still run the old version" in told[1].reason
    assert set(one.flashed.values()) == {1}


@pytest.mark.parametrize("state", [State.IN_PRODUCTION, State.READY])
def test_a_neighbour_in_production_is_not_taken_down(state: State) -> None:
    """The cut waits for a person, who is told whose node it is; one that rests may go down."""
    one = with_cut(Activation.AUX_CYCLE)
    one = Server(name=one.name, release=changed(one.release, domain=Domain.CHASSIS), serial=one.serial, uuid=one.uuid)
    other = server("r01-u02")

    async def act(site: Site) -> None:
        for name in (NAME, NodeName("r01-u02")):
            node, visited = site.nodes.rows[name]
            moved = replace(node, domains=Domains(chassis="box-7"))
            site.nodes.rows[name] = (moved if name == NAME else replace(moved, state=state), visited)
        await asyncio.sleep(1)

    site = Site([one, other], people=act)
    node = next(found for found in site.run(hours=12) if found.name == NAME)
    assert_safe(site, one)
    if state is State.READY:
        assert_ready(site, one, node)
        return
    assert node.hold is not None, site.events_of(NAME)
    assert_told(node.hold.instruction)
    assert "r01-u02" in node.hold.reason
    assert "is in production" in node.hold.reason
    entry = next(found for found in site.journal.entries.values() if found.what.component == CUT)
    assert entry.phase is Phase.STAGED
    assert other.violations == []


def test_only_one_module_takes_power_or_a_bmc_away() -> None:
    """The interlock is there: whoever resets goes through `operations/power.py`, which looks for flashes first."""
    root = Path(__file__).parents[2]
    verbs = {"reset", "reset_bmc", "cycle", "cycle_by", "start_staged"}
    found = set()
    for folder in ("provisioner", "api"):
        for path in (root / folder).rglob("*.py"):
            if "redfish" in path.parts or "bench" in path.parts:
                continue
            calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
            names = {call.attr for call in calls if isinstance(call, ast.Attribute)}
            found |= {(path.name, name) for name in names & verbs}
    assert found == {
        ("power.py", "reset"),
        ("power.py", "reset_bmc"),
        ("power.py", "cycle"),
        ("power.py", "cycle_by"),
        ("firmware_send.py", "start_staged"),
    }
