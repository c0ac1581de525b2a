"""What no program can put right: held, with one thing that one person does."""

import asyncio

import pytest

from provisioner.firmware.phase import Phase
from provisioner.models.instruction import Hold, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from tests.operations.invariants import assert_ended, assert_safe, assert_told
from tests.operations.server import Server
from tests.operations.server_faults import Faults
from tests.operations.site import Site, server


def held(one: Server, absent: tuple[str, ...] = ()) -> tuple[Site, Node, Hold]:
    """A site with this server alone, its node and why it is held."""
    site = Site([one], absent=absent)
    (node,) = site.run()
    assert node.hold is not None, site.events_of(one.name)
    assert_told(node.hold.instruction)
    assert one.name in node.hold.instruction.what
    return site, node, node.hold


@pytest.mark.parametrize(("identifier", "component"), [("HGX_FW_GPU_SXM_1", "gpu-vbios"), ("BMC", "bmc")])
def test_a_flash_that_reports_success_and_changes_nothing(identifier: str, component: str) -> None:
    """Judged by the running version; three tries, then a person who is told which part runs what."""
    one = server(faults=Faults(stays_old=frozenset({identifier})))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    wanted = next(part.component.version for name, part in one.parts.items() if name == identifier)
    assert node.held_from is State.UPDATING_FIRMWARE
    assert f"{component} {wanted}: activated, and {identifier} runs 0.1" in hold.reason
    assert "firmware is mixed" in hold.instruction.what
    tries = [entry for entry in site.journal.entries.values() if entry.what.component == component]
    assert [(entry.attempt, entry.phase) for entry in tries] == [(number, Phase.FAILED) for number in (1, 2, 3)]
    assert one.flashed[identifier, wanted] == 3
    others = {count for (name, _), count in one.flashed.items() if name not in {identifier, "HGX_FW_GPU_SXM_2"}}
    assert others <= {1}
    assert bool(others) is (identifier != "BMC"), "nothing is flashed through a BMC that is not as it should be"


def test_an_agent_that_never_comes_up() -> None:
    """Three boots within the time limit; the console may show why."""
    one = server(faults=Faults(agent="never"))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert "asked for its image 3 times" in hold.reason
    assert "console" in hold.instruction.what
    assert one.host_starts == 2 + 3


def test_a_node_that_never_asks_for_an_image() -> None:
    one = server(faults=Faults(asks=False))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert node.held_from is State.BOOTING
    assert "never asked for an image" in hold.reason
    assert "cable" in hold.instruction.what
    assert hold.instruction.part


def test_an_agent_that_dies_each_time() -> None:
    """A dead agent is not a dead node: it is booted again, but not for ever."""
    one = server(faults=Faults(agent="silent"))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert "3 times" in hold.reason
    assert site.path_of(one.name).count(State.BOOTING) == 3


def test_another_image_than_the_one_it_was_given() -> None:
    one = server(faults=Faults(agent="wrong"))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert "sha256:another" in hold.reason
    assert hold.instruction.owner is Owner.IMAGE_OWNER


def test_a_check_that_fails() -> None:
    one = server(faults=Faults(failing_item="memory"))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert hold.reason == "memory: fail: DIMM A1: broken"


def test_a_setting_that_the_bios_drops_without_a_word() -> None:
    """dell/terraform-provider-redfish#231, HewlettPackard/python-ilorest-library#91."""
    name = "Above4GDecoding_0041"
    one = server(faults=Faults(rejects_bios=frozenset({name})))
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert f"{name} is 'Default', not 'Enabled'" in hold.reason
    assert hold.reason.count(" is ") == 1


def test_a_password_that_is_not_the_one_on_the_list() -> None:
    """At most two logins reach the BMC: some lock the account at three."""
    one = server(password="something else")
    _, node, hold = held(one)
    assert node.held_from is State.DISCOVERED
    assert one.logins == [False]
    assert hold.retry_at is None
    assert "firstlight node password" in hold.instruction.what


def test_a_password_that_somebody_changed_meanwhile() -> None:
    """Still at most two, whoever asks and however often."""
    one = server(faults=Faults(bmc_resets=(900,)))

    async def act(_: Site) -> None:
        await asyncio.sleep(600)
        one.password = "something else"

    site = Site([one], people=act)
    (node,) = site.run()
    assert node.hold is not None
    assert one.logins.count(False) <= 2
    assert_told(node.hold.instruction)


def test_a_gpu_that_does_not_answer() -> None:
    one = server(gpus=7)
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert "7 GPUs answer" in hold.reason
    assert "GPU_SXM_7" in hold.reason
    assert "GPU_SXM_8" not in hold.reason
    assert hold.instruction.part
    assert one.host_starts == 0


@pytest.mark.parametrize("serial", ["To be filled by O.E.M.", "0123456789", "", "Default string"])
def test_a_serial_that_is_none(serial: str) -> None:
    one = server(serial=serial)
    site, node, hold = held(one)
    assert_ended(site, one, node)
    assert node.held_from is State.DISCOVERED
    assert "label" in hold.instruction.what


@pytest.mark.parametrize("same", ["serial", "uuid"])
def test_two_servers_that_say_they_are_the_same(same: str) -> None:
    """Never merged: both are held, and each instruction names the other."""
    one = server("r01-u01")
    two = server("r01-u02", **{same: getattr(one, same)})
    site = Site([one, two])
    for node, other in zip(site.run(), ["r01-u02", "r01-u01"], strict=True):
        assert node.hold is not None
        assert_told(node.hold.instruction)
        assert other in node.hold.reason
        assert other in node.hold.instruction.what
    for each in (one, two):
        assert_safe(site, each)
        assert each.writes <= 1  # at most a password, nothing else


def test_a_package_that_nobody_has_put_there() -> None:
    one = server()
    digests = tuple(f"sha256:{part.artefact.sha256}" for part in one.release.firmware.components[:2])
    site, node, hold = held(one, absent=digests)
    assert_ended(site, one, node)
    assert all(part.artefact.file in hold.reason for part in one.release.firmware.components[:2])
    assert one.flashes == []


def test_a_bmc_that_stays_away() -> None:
    """Held with what to look for, and asked again by itself every ten minutes."""
    one = server(faults=Faults(away=((600, 10**7),)))
    site = Site([one])
    (node,) = site.run(hours=6)
    holds = [event for event in site.nodes.events.all if event.to_state is State.HELD]
    assert len(holds) > 5
    assert node.state in {State.HELD, State.UPDATING_FIRMWARE}
    assert_safe(site, one)
