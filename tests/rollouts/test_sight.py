"""What is made of nodes, turns and boots: units of a pool, and the facts that a rollout stands on."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from provisioner.models.boot import BootFailure, BootTicket, FailureKind
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Domains, Node
from provisioner.models.secret import Secret
from provisioner.models.turn import Booted, Turn
from provisioner.rollout.intent import Action
from provisioner.rollout.inventory import Pool, stock
from provisioner.rollout.observation import Failure
from provisioner.rollout.sight import Scheduled, Sight, facts_of
from provisioner.rollout.state import UnitState, UnitTask
from provisioner.rollout.unit import Domain, DomainKind, UnitName

AT = datetime(2026, 12, 1, tzinfo=UTC)
BLUE, GREEN = ReleaseDigest("sha256:blue"), ReleaseDigest("sha256:green")
IMAGES: Mapping[ReleaseDigest, str] = {BLUE: "image:blue", GREEN: "image:green"}
N1 = NodeName("n1")
TASK = UnitTask(UnitName("n1"), 0, UnitState.REBOOTING, generation=3, attempt=2)
HOLD = Hold("no image", Instruction(Owner.IMAGE_OWNER, "rack", "look", "it works"), AT)


def node(name: str = "n1", **more: object) -> Node:
    one = Node(
        name=NodeName(name),
        rack=RackName("r1"),
        position=1,
        bmc=BmcAddress("127.0.0.1"),
        state=State.READY,
        state_since=AT,
        generation=5,
        hardware_class="gb200",
        release=BLUE,
        observed_image="image:blue",
    )
    return replace(one, **more)  # type: ignore[arg-type]  # fields of Node


def booted(generation: int = 5, image: str = "image:blue") -> Booted:
    return Booted(N1, generation, image, AT)


def test_a_node_at_rest_is_healthy_and_runs_what_its_agent_reports() -> None:
    facts = facts_of(Sight(node(), booted=booted()), "r1", IMAGES, None, None)
    assert (facts.digest, facts.active, facts.boot_id, facts.checked) == (BLUE, BLUE, "g5", "g5")
    assert facts.available
    assert facts.holder is None


def test_an_image_that_no_release_has_is_told_by_its_own_digest() -> None:
    facts = facts_of(Sight(node(), booted=booted(image="image:strange")), "r1", IMAGES, None, None)
    assert facts.digest == "image:strange"


@pytest.mark.parametrize(("generation", "digest"), [(5, BLUE), (6, GREEN)])
def test_of_two_releases_with_one_image_it_runs_the_one_that_it_was_given_when_it_booted(
    generation: int, digest: ReleaseDigest
) -> None:
    """Before the reboot of a release that changes firmware alone, it still runs the old one."""
    on_its_way = node(generation=6, release=GREEN, state=State.BOOTING)
    turn = Turn(N1, "r1", 1, active=GREEN, blue=BLUE, green=GREEN)
    sight = Sight(on_its_way, turn, booted(generation))
    assert facts_of(sight, "r1", {BLUE: "image:blue", GREEN: "image:blue"}, None, None).digest == digest


def test_a_check_counts_only_under_the_boot_that_was_ordered_last() -> None:
    turn = Turn(N1, "r1", 1, cordoned=True, active=GREEN, blue=BLUE, green=GREEN)
    burning = Sight(node(generation=6, release=GREEN, state=State.BURNING_IN), turn, booted(6, "image:green"))
    assert facts_of(burning, "r1", IMAGES, None, None).checked == ""
    passed = replace(burning, node=replace(burning.node, state=State.READY))
    assert facts_of(passed, "r1", IMAGES, None, None).checked == "g6"
    stale = replace(passed, booted=booted(5))
    assert facts_of(stale, "r1", IMAGES, None, None).checked == ""


def test_a_hold_is_a_failure_of_the_action_that_was_done_last_and_of_no_other() -> None:
    held = node(state=State.HELD, held_from=State.BOOTING, hold=HOLD)
    turn = Turn(N1, "r1", 1, "r1/n1/reboot/g3/a2")
    facts = facts_of(Sight(held, turn), "r1", IMAGES, TASK, None)
    assert facts.failure == Failure(Action.REBOOT, 2, 3, "no image")
    assert not facts.healthy
    for effect in ("r1/n1/reboot/g3/a1", "r1/n1/flip/g3/a2", "r1/n1/reboot/g2/a2"):
        assert facts_of(Sight(held, replace(turn, effect=effect)), "r1", IMAGES, TASK, None).failure is None


def test_who_is_busy_for_somebody_else_is_cordoned_by_that() -> None:
    facts = facts_of(Sight(node(state=State.MAINTENANCE)), "r1", IMAGES, None, None)
    assert facts.cordons == {"Firstlight (maintenance)"}
    assert facts.healthy, "a person's work on it is no failure of its release"
    scheduled = Scheduled(frozenset({"slurm (ann): disk"}), 2, asked=True)
    facts = facts_of(Sight(node(), scheduled=scheduled), "r1", IMAGES, None, None)
    assert facts.cordons == {"slurm (ann): disk"}
    assert facts.jobs == 2


def test_our_cordon_is_what_the_scheduler_says_where_there_is_one() -> None:
    """A person who lifts it in the scheduler has lifted it, whatever we have noted."""
    turn = Turn(N1, "r1", 1, cordoned=True)
    assert facts_of(Sight(node(), turn), "r1", IMAGES, None, None).cordons == {"r1"}
    lifted = Sight(node(), turn, scheduled=Scheduled(asked=True))
    assert facts_of(lifted, "r1", IMAGES, None, None).cordons == frozenset()


def test_an_image_that_is_refused_is_told_only_of_the_boot_at_hand() -> None:
    ticket = BootTicket(
        node=N1,
        generation=6,
        attempt=1,
        key=Secret("k"),
        token=Secret("t"),
        image="image:green",
        root="root",
        served=1,
        boot_id=None,
        registered_at=None,
        booted_image=None,
        booted_root=None,
        failures=(BootFailure(FailureKind.INTEGRITY, "verity: other bytes", AT, 1),),
    )
    held = node(generation=6, release=GREEN, state=State.HELD, hold=HOLD)
    assert facts_of(Sight(held, ticket=ticket), "r1", IMAGES, None, None).image_refused == "verity: other bytes"
    older = replace(ticket, generation=5)
    assert facts_of(Sight(held, ticket=older), "r1", IMAGES, None, None).image_refused == ""


def test_nodes_of_one_nvlink_domain_are_one_unit_and_one_that_never_came_makes_it_short() -> None:
    pool = Pool("p", "gb200", domain_nodes=18, precious=frozenset({"n2"}))
    power = Domains(power="feed-a")
    there = [node("n1", domains=power), node("n2"), node("n3", rack="r2"), node("n4", observed_image=None)]
    found = stock(pool, [*there, node("n5", hardware_class="hgx")], {BLUE: "fw"})
    first, second = found.units
    assert (first.name, first.nodes, first.missing, first.firmware) == ("r1", ("n1", "n2"), 1, "fw")
    assert first.precious
    assert first.domains == {Domain(DomainKind.RACK, "r1"), Domain(DomainKind.POWER, "feed-a")}
    assert (second.name, second.nodes, second.missing) == ("r2", ("n3",), 0)
    assert found.left_out == {"n4": "it was never ready yet"}


def test_a_unit_is_broken_when_none_of_its_nodes_serves() -> None:
    pool = Pool("p", "gb200", nodes=frozenset({"n1", "n2"}))
    held = node("n2", state=State.HELD, held_from=State.READY, hold=HOLD)
    found = stock(pool, [node("n1"), held, node("n3")], {})
    assert [unit.name for unit in found.units] == ["n1", "n2"]
    assert found.broken == {"n2"}


def test_a_unit_with_two_releases_goes_back_to_what_most_of_it_runs() -> None:
    nodes = [node("n1", release=GREEN), node("n2"), node("n3")]
    (unit,) = stock(Pool("p", "gb200", domain_nodes=3), nodes, {}).units
    assert unit.release == BLUE
