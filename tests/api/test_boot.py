"""What firmware is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from api.boot_script import boot_script
from provisioner.boot.answer import BootImage, LeaveNetworkBoot
from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import NodeName, RunKey
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.secret import Secret
from provisioner.operations.boot import open_ticket
from provisioner.services import nodes
from tests.api.site import N1, Site

TICKET = BootTicket(
    node=NodeName("r01-u01"),
    generation=1,
    attempt=2,
    key=Secret("KEY"),
    token=Secret("ONE-TIME-TOKEN"),
    image="sha256:" + "a" * 64,
    root="sha256:" + "b" * 64,
    served=0,
    boot_id=None,
    registered_at=None,
    booted_image=None,
    booted_root=None,
)
GOLDEN = Path(__file__).parent / "golden"


def test_the_script_that_boots_an_image() -> None:
    assert boot_script(BootImage(TICKET), "http://10.0.0.1:8410") == (GOLDEN / "boot.ipxe").read_text()


def test_the_script_that_leaves_network_boot() -> None:
    assert boot_script(LeaveNetworkBoot("held: fan 3 is dead"), "http://x") == (GOLDEN / "leave.ipxe").read_text()


@pytest.mark.parametrize(
    "reason", ["held: \nkernel http://evil/x\nboot", "a\r\nboot", "\x1b[2J", "Lüfter {{ 7 * 7 }}", ""]
)
def test_a_reason_is_one_line_whatever_somebody_wrote(reason: str) -> None:
    lines = boot_script(LeaveNetworkBoot(reason), "http://x").split("\n")
    assert [lines[0], lines[2], lines[3]] == ["#!ipxe", "exit", ""]
    assert lines[1].startswith("#")
    assert lines[1].isascii()
    assert lines[1].isprintable()


def ticket_of(site: Site) -> BootTicket:
    """Bring N1 to where it boots."""
    site.release()
    node = site.node()
    for state in (State.IDENTIFIED, State.SECURED, State.INVENTORIED, State.UPDATING_FIRMWARE):
        node = site.move(state)
    node = site.move(State.CONFIGURING_BIOS)
    node = site.move(State.BOOTING)
    site.run(site.store.nodes.identify(N1, Identity("S1-1", "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b", "Acme", "G8")))
    site.run(open_ticket(site.service.world, RunKey("boot", N1, node.generation, node.attempt)))
    ticket = site.run(site.store.boots.latest(N1))
    assert ticket is not None
    return ticket


def test_a_node_boots_its_image_by_key_and_by_who_it_is(site: Site) -> None:
    ticket = ticket_of(site)
    by_key = site.request("GET", f"/boot/{ticket.key.reveal()}", None)
    uuid = "0F5C4C2E-6F0F-4A44-9A53-1D2F6F4F5A6B"
    query = f"uuid={uuid}&serial=s1-1&mac=52:54:00:00:00:01&arch=x86_64"
    by_identity = site.request("GET", f"/boot/ipxe?{query}", None)
    assert by_key.text == by_identity.text
    assert by_key.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert by_key.headers["Cache-Control"] == "no-store"
    words = by_key.text.splitlines()[2].split()
    assert words[:3] == ["kernel", "--name", "root"]
    arguments = dict(word.split("=", 1) for word in words[4:])
    assert arguments == {
        "firstlight.server": site.url,
        "firstlight.node": "r01-u01",
        "firstlight.token": ticket.token.reveal(),
        "firstlight.image": site.files.image.digest,
        "firstlight.root": site.files.image.artefact("root").digest,
    }
    assert site.request("GET", words[3].removeprefix(site.url), None).status_code == 200
    served = site.run(site.store.boots.latest(N1))
    assert served is not None
    assert served.served == 2


def test_firmware_that_asks_for_the_length_first_is_told(site: Site) -> None:
    """EDK2's HttpBootDxe sends HEAD before GET."""
    path = f"/boot/{ticket_of(site).key.reveal()}"
    head = site.request("HEAD", path, None)
    assert head.status_code == 200
    assert head.content == b""
    assert int(head.headers["Content-Length"]) == len(site.request("GET", path, None).content)


def test_a_held_node_boots_nothing(site: Site) -> None:
    ticket = ticket_of(site)
    site.run(nodes.hold(site.service.world, N1, "water\nleak", "anna"))
    text = site.request("GET", f"/boot/{ticket.key.reveal()}", None).text
    assert text == "#!ipxe\n# held: water leak (held by anna)\nexit\n"


def test_an_older_key_boots_nothing(site: Site) -> None:
    ticket = ticket_of(site)
    newer = replace(ticket, attempt=ticket.attempt + 1, key=Secret("another"), token=Secret("another token"))
    site.run(site.store.boots.open(newer))
    text = site.request("GET", f"/boot/{ticket.key.reveal()}", None).text
    assert text.endswith("\nexit\n")
    assert "another token" not in text


@pytest.mark.parametrize("query", ["uuid=&serial=", "uuid=x&serial=S1-1", "uuid=x&serial=S1-1&mac=&arch=arm64"])
def test_strangers_leave_network_boot(shared_site: Site, query: str) -> None:
    assert shared_site.request("GET", f"/boot/ipxe?{query}", None).text.endswith("\nexit\n")
