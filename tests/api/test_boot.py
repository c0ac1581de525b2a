"""What firmware gets."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from images.boot_program.pe import read_program
from images.digest import digest_of
from provisioner.boot.answer import BootImage, Discover
from provisioner.models.boot import Caller
from provisioner.models.found_host import HostHow, Lease
from provisioner.models.secret import Secret
from provisioner.services import nodes
from provisioner.services.boots import answer_address
from provisioner.store.database import Database
from provisioner.store.found_hosts import SqlHosts
from tests.api.booting import MAC, SAID, UUID, latest, ticket_of
from tests.api.site import N1, Site


def test_a_node_boots_its_image_by_key_and_by_who_it_is(site: Site) -> None:
    ticket = ticket_of(site)
    by_key = site.request("GET", f"/boot/{ticket.key.reveal()}", None)
    by_identity = site.request("GET", f"/boot/ipxe?{SAID}", None)
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
    assert latest(site).served == 2


def test_firmware_that_asks_for_the_length_first_is_told(site: Site) -> None:
    """EDK2's HttpBootDxe sends HEAD before GET."""
    path = f"/boot/{ticket_of(site).key.reveal()}"
    head = site.request("HEAD", path, None)
    assert head.status_code == 200
    assert head.content == b""
    assert int(head.headers["Content-Length"]) == len(site.request("GET", path, None).content)
    assert latest(site).served == 1


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


@pytest.mark.parametrize(
    "query",
    [
        "uuid=&serial=&mac=",
        "uuid=11111111-2222-3333-4444-555566667777&serial=MX9909C4",
        f"uuid=x&serial=MX9909C4&mac={MAC}",
        "",
    ],
)
def test_strangers_are_told_how_they_are_added(site: Site, query: str) -> None:
    ticket = ticket_of(site)
    text = site.request("GET", f"/boot/ipxe?{query}", None).text
    assert "this server is on no list" in text
    assert text.endswith("\nexit\n")
    assert ticket.token.reveal() not in text


def test_a_stranger_is_remembered(site: Site) -> None:
    """`firstlight discover` shows it, with all that its firmware said."""
    query = "uuid=11111111-2222-3333-4444-555566667777&serial=MX9909C4&mac=52-54-00-AA-00-09&arch=arm64"
    site.request("GET", f"/boot/ipxe?{query}", None)
    site.request("GET", "/boot/ipxe?mac=none", None)
    (host,) = site.run(site.store.hosts.all())
    assert (host.mac, host.uuid, host.serial, host.client_class, host.address, host.how) == (
        "52:54:00:aa:00:09",
        "11111111-2222-3333-4444-555566667777",
        "MX9909C4",
        "arm64",
        "127.0.0.1",
        HostHow.BOOT,
    )


@pytest.mark.parametrize("query", [f"mac={MAC}", f"uuid=&serial=Default%20string&mac={MAC}", f"uuid={UUID}&mac={MAC}"])
def test_a_board_without_a_name_is_known_by_its_port(site: Site, query: str) -> None:
    ticket = ticket_of(site)
    assert ticket.token.reveal() in site.request("GET", f"/boot/ipxe?{query}", None).text


def test_uefi_gets_one_program_that_is_the_same_for_every_node(site: Site) -> None:
    """EDK2 takes application/efi, or an address that ends in .efi, and nothing else."""
    ticket = ticket_of(site)
    path = f"/boot/{ticket.key.reveal()}/boot.efi"
    head = site.request("HEAD", path, None)
    assert (head.status_code, head.content, latest(site).served) == (200, b"", 0)
    got = site.request("GET", path, None)
    assert got.status_code == 200
    assert got.headers["Content-Type"] == "application/efi"
    assert got.headers["Content-Length"] == head.headers["Content-Length"] == str(len(got.content))
    assert got.headers["ETag"] == head.headers["ETag"] == f'"{digest_of(got.content)}"'
    names = [entry.name.rstrip(b"\0") for entry in read_program(got.content).entries]
    assert names == [b".cmdline", b".linux"]
    assert ticket.token.reveal().encode() not in got.content
    assert f"firstlight.image={ticket.image}".encode() in got.content
    assert (latest(site).served, latest(site).programs) == (1, 1)


def test_a_transfer_of_the_program_that_broke_goes_on_where_it_was(site: Site) -> None:
    path = f"/boot/{ticket_of(site).key.reveal()}/x.efi"
    whole = site.request("GET", path, None)
    rest = site.request("GET", path, None, headers={"Range": "bytes=100-", "If-Range": whole.headers["ETag"]})
    assert (rest.status_code, rest.content) == (206, whole.content[100:])
    kept = site.request("GET", path, None, headers={"If-None-Match": whole.headers["ETag"]})
    assert (kept.status_code, kept.content) == (304, b"")
    beyond = site.request("GET", path, None, headers={"Range": "bytes=999999999-"})
    assert beyond.status_code == 416


def test_uefi_that_was_told_by_dhcp_is_known_by_the_address_that_it_got(site: Site) -> None:
    ticket = ticket_of(site)
    site.run(site.store.hosts.take_leases([Lease(MAC, "127.0.0.1", datetime.now(UTC), None)]))
    got = site.request("GET", "/boot/uefi/x86_64.efi", None)
    assert got.content == site.request("GET", f"/boot/{ticket.key.reveal()}/x.efi", None).content
    assert latest(site).programs == 2
    site.run(nodes.hold(site.service.world, N1, "a look", "anna"))
    left = site.request("GET", "/boot/uefi/x86_64.efi", None)
    assert (left.status_code, left.text) == (404, "held: a look (held by anna)\n")


class LateHosts(SqlHosts):
    """The report of a lease is stored after so many looks for it; None: it never is."""

    def __init__(self, database: Database, after: int | None) -> None:
        super().__init__(database)
        self.after, self.looks = after, 0

    async def by_address(self, address: str) -> str | None:
        if self.looks == self.after:
            await self.take_leases([Lease(MAC, address, datetime.now(UTC), None)])
        self.looks += 1
        return await super().by_address(address)


@pytest.mark.parametrize(("after", "looks"), [(0, 1), (2, 3)])
def test_uefi_that_asks_before_its_lease_was_stored_is_known_all_the_same(site: Site, after: int, looks: int) -> None:
    """Firmware asks at once; the lease is read from our DHCP server's report, ten times a second."""
    ticket = ticket_of(site)
    hosts = LateHosts(site.store.database, after)
    answer = site.run(answer_address(replace(site.service.world, hosts=hosts), Caller(address="10.0.0.7")))
    assert isinstance(answer, BootImage)
    assert (answer.ticket, hosts.looks) == (ticket, looks)


def test_an_address_without_a_lease_is_looked_for_a_few_times_only(site: Site) -> None:
    """Where others give the addresses, every host of a hall that comes up waits for a lease that never comes."""
    hosts = LateHosts(site.store.database, None)
    answer = site.run(answer_address(replace(site.service.world, hosts=hosts), Caller(address="10.0.0.7")))
    assert answer == Discover(Caller(address="10.0.0.7"))
    assert 1 < hosts.looks <= 6


def test_uefi_with_an_address_that_we_did_not_give_gets_ipxe_which_then_says_who_it_is(site: Site) -> None:
    got = site.request("GET", "/boot/uefi/x86_64.efi", None)
    assert (got.status_code, got.headers["Content-Type"]) == (200, "application/efi")
    assert b"iPXE" in got.content
    none = site.request("GET", "/boot/uefi/arm64.efi", None)
    assert (none.status_code, "on no list" in none.text) == (404, True)
    assert site.request("GET", "/boot/uefi/sparc.efi", None).status_code == 422


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_where_there_is_nothing_to_boot_uefi_goes_on_to_its_next_device(site: Site, method: str) -> None:
    ticket = ticket_of(site)
    site.run(nodes.hold(site.service.world, N1, "water\nleak", "anna"))
    for key in (ticket.key.reveal(), "guessed"):
        left = site.request(method, f"/boot/{key}/boot.efi", None)
        assert (left.status_code, left.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")
        assert ticket.token.reveal() not in left.text
    assert latest(site).served == 0


def test_a_node_that_restarts_for_ever_is_served_no_more(site: Site) -> None:
    path = f"/boot/{ticket_of(site).key.reveal()}"
    texts = [site.request("GET", path, None).text for _ in range(14)]
    assert len(set(texts[:12])) == 1
    assert "boot" in texts[0].splitlines()
    assert texts[12].splitlines()[2] == "exit"
    assert "served 12 times" in texts[12]
