"""Who else goes down with an activation, and for whom that must not be."""

from dataclasses import replace

import pytest

from profiles.firmware.component import Activation, Domain
from provisioner.firmware.domains import Neighbourhood, Reach
from provisioner.firmware.plan import Stage, plan_updates
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains, Node
from tests.pure.samples import catalogued, hold, node, part

OTHER = NodeName("r01-u02")


def stage(domain: str, activation: str = "ac_cycle") -> Stage:
    """One that takes this domain down."""
    fields = {"name": "gpu", "glob": "GPU", "version": "2", "releases": ["1", "2"]}
    bundle = catalogued({**fields, "domain": domain, "activation": activation})
    return plan_updates(bundle, (part("GPU", "1"),)).stages[0]


def other(state: State = State.READY, **fields: object) -> Node:
    """In the same tray, on the same feed, in another chassis."""
    domains = Domains(tray="T1", chassis="c2", power="pdu-a")
    return replace(node(state), name=OTHER, position=2, domains=domains, **fields)  # type: ignore[arg-type]  # as given


MINE = replace(node(State.UPDATING_FIRMWARE), domains=Domains(tray="t1", chassis="c1", power="pdu-a"))


@pytest.mark.parametrize(("domain", "goes"), [("node", False), ("tray", True), ("chassis", False), ("power", True)])
def test_those_with_the_same_name_go_down_too(domain: str, goes: bool) -> None:
    """Case does not count: people write lists by hand."""
    reach = Neighbourhood([MINE, other()]).reach(stage(domain), MINE)
    assert [one.name for one in reach.neighbours] == ([OTHER] if goes else [])
    assert reach.undeclared == ()
    assert reach.blocking == ()


def test_nothing_goes_down_where_nothing_is_activated() -> None:
    assert Neighbourhood([MINE, other()]).reach(stage("tray", Activation.NONE.value), MINE) == Reach()


@pytest.mark.parametrize("state", [one for one in State if one is not State.HELD])
def test_a_neighbour_blocks_that_serves_or_must_not_be_cut_off(state: State) -> None:
    (found,) = Neighbourhood([MINE, other(state)]).reach(stage("tray"), MINE).neighbours
    blocking = {State.IN_PRODUCTION, State.CONFIGURING_BIOS, State.BOOTING, State.BURNING_IN}
    assert bool(found.blocks) == (state in blocking)
    held = other(State.HELD, hold=hold(), held_from=state)
    (found,) = Neighbourhood([MINE, held]).reach(stage("tray"), MINE).neighbours
    assert bool(found.blocks) == (state in blocking)


def test_the_instruction_can_name_who_blocks_and_why() -> None:
    reach = Neighbourhood([MINE, other(State.IN_PRODUCTION)]).reach(stage("tray"), MINE)
    assert [str(one) for one in reach.blocking] == [
        "rack r01, position 2 (r01-u02) shares tray t1 and is in production"
    ]


def test_a_neighbour_that_is_flashed_now_blocks_and_one_that_waits_does_not() -> None:
    """Two that wait for the same power cut would wait for each other."""
    waiting = other(State.UPDATING_FIRMWARE)
    assert Neighbourhood([MINE, waiting]).reach(stage("tray"), MINE).blocking == ()
    (found,) = Neighbourhood([MINE, waiting], {OTHER: "is being flashed"}).reach(stage("tray"), MINE).blocking
    assert found.blocks == "is being flashed"


def test_who_shares_what_nobody_named_is_not_known() -> None:
    alone = replace(MINE, domains=Domains(power="pdu-a"))
    reach = Neighbourhood([alone, other(), node()]).reach(stage("tray"), alone)
    assert reach == Reach((), (Domain.TRAY,))
