"""Packages that must not be sent: told before anything of an update goes to the BMC; then a person is asked."""

import asyncio

from profiles.firmware.component import FirmwareComponent
from provisioner.errors import PackageError
from provisioner.firmware.phase import Phase
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Owner
from provisioner.models.lifecycle import State
from provisioner.services import nodes as services
from tests.operations.invariants import assert_ended, assert_ready, assert_safe, assert_told
from tests.operations.server import Server
from tests.operations.site import Site, server

NAME = NodeName("r01-u01")


def damaged(one: Server, component: str = "cpld") -> tuple[FirmwareComponent, dict[str, PackageError]]:
    """The wanted component, and what is wrong with its package."""
    wanted = next(each for each in one.release.firmware.components if each.component == component)
    error = PackageError("header checksum", 139, "the header is damaged", "get the file from its maker again")
    return wanted, {f"sha256:{wanted.artefact.sha256}": error}


def test_a_damaged_package_is_refused_before_anything_is_sent() -> None:
    """Not even what comes before it in the plan: a half-updated server helps nobody."""
    one = server()
    wanted, spoiled = damaged(one)
    site = Site([one], spoiled=spoiled)
    (node,) = site.run()
    assert_ended(site, one, node)
    assert node.held_from is State.UPDATING_FIRMWARE
    assert node.hold is not None
    told = f"{wanted.artefact.file}: header checksum at byte 139 (0x8b): the header is damaged; get the file from its"
    assert told in node.hold.reason
    assert_told(node.hold.instruction)
    assert node.hold.instruction.owner is Owner.IMAGE_OWNER
    assert "firmware inspect" in node.hold.instruction.what
    assert one.flashes == []
    phases = {entry.what.component: entry.phase for entry in site.journal.entries.values()}
    assert phases.pop("cpld") is Phase.FAILED
    assert set(phases.values()) == {Phase.PLANNED}
    (failed,) = [entry for entry in site.journal.entries.values() if entry.phase is Phase.FAILED]
    assert [change.phase for change in failed.changes] == [Phase.PLANNED, Phase.PREFLIGHT, Phase.FAILED]
    assert told in failed.reason


def test_with_a_good_package_in_its_place_the_node_goes_on() -> None:
    """Every device flashed once; the journal holds the refused try and the good one."""
    one = server()
    _, spoiled = damaged(one)

    async def replace(site: Site) -> None:
        while (await site.world.nodes.get(NAME)).hold is None:  # noqa: ASYNC110  the reconciler holds it
            await asyncio.sleep(10)
        site.shelf.spoiled.clear()
        await services.release(site.world, NAME, "kim")

    site = Site([one], spoiled=spoiled, people=replace)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)
    tries = [entry for entry in site.journal.entries.values() if entry.what.component == "cpld"]
    assert [(each.phase, each.attempt) for each in tries] == [(Phase.FAILED, 1), (Phase.DONE, 2)]


def test_a_crash_at_any_step_of_the_refusal_changes_nothing() -> None:
    one = server()
    _, spoiled = damaged(one)
    calm = Site([one], spoiled=spoiled)
    calm.run()
    for moment in range(max(1, calm.steps - 6), calm.steps + 1):
        other = server()
        site = Site([other], spoiled=spoiled, crashes=[moment])
        (node,) = site.run()
        assert node.hold is not None
        assert "header checksum" in node.hold.reason
        assert other.flashes == []
        assert [each.phase for each in site.journal.entries.values()].count(Phase.FAILED) >= 1
