"""What has to be true after whatever happened."""

from dataclasses import fields

from provisioner.firmware.phase import FINISHED
from provisioner.firmware.plan import unproven
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Instruction
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from tests.operations.server import Server
from tests.operations.site import Site


def assert_told(instruction: Instruction) -> None:
    """Every field that a person needs is filled in."""
    for one in fields(instruction):
        value = getattr(instruction, one.name)
        assert value is None if one.name == "part" and value is None else str(value).strip(), one.name
    assert "firstlight node" in instruction.what, instruction.what


def assert_safe(site: Site, server: Server) -> None:
    """Nothing was done that could break a server or lock us out, however it ended."""
    assert server.violations == [], (server.violations, server.faults, site.crashes)
    assert server.password in {one.password.reveal() for one in site.vault.known(NodeName(server.name))}
    assert _refused_in_a_row(server) <= 2
    assert site.engine.errors() == {}
    assert site.runs.beside == []
    assert len(set(site.runs.started)) == len(site.runs.started)
    if not server.faults.stays_old:
        twice = {what: count for what, count in server.flashed.items() if count > 1}
        assert twice == {}, (twice, server.faults, site.crashes, site.events_of(server.name))


def assert_ended(site: Site, server: Server, node: Node) -> None:
    """Ready, or held with something to do; never stuck."""
    assert_safe(site, server)
    if node.state is State.HELD:
        assert node.hold is not None
        assert node.hold.reason.strip()
        assert_told(node.hold.instruction)
    else:
        assert_ready(site, server, node)


def assert_ready(site: Site, server: Server, node: Node) -> None:
    """Ready is what is seen on the device."""
    assert node.state is State.READY, (node.state, node.hold, site.events_of(server.name))
    release = server.release
    assert {part.active for part in server.parts.values()} <= {one.version for one in release.firmware.components}
    assert all(part.active == part.component.version for part in server.parts.values())
    assert {name: server.bios[name] for name in release.bios.attributes} == release.bios.attributes
    assert node.observed_image == release.image_digest
    kept = site.documents.inventories[node.name].firmware
    assert unproven(release.firmware, kept) == (), "what is kept about its firmware is what runs"
    left = [one for one in site.journal.entries.values() if one.node == node.name and one.phase not in FINISHED]
    assert left == []


def _refused_in_a_row(server: Server) -> int:
    most = row = 0
    for right in server.logins:
        row = 0 if right else row + 1
        most = max(most, row)
    return most
