"""How a node is told to boot, and what a person does when it fails: by what was seen."""

import asyncio
from pathlib import Path

import pytest

import images
from provisioner.models.event import EventKind
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Hold, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.services import nodes as services
from tests.operations.invariants import assert_ended, assert_ready
from tests.operations.server import Server
from tests.operations.server_faults import Faults
from tests.operations.site import Site, server

NAME = NodeName("r01-u01")


def held(one: Server, *, sound: bool = True) -> tuple[Node, Hold, Site]:
    """Run it until it is held while it boots."""
    site = Site([one], sound=sound)
    (node,) = site.run()
    assert_ended(site, one, node)
    assert (node.state, node.held_from) == (State.HELD, State.BOOTING)
    assert node.hold is not None
    return node, node.hold, site


def test_a_bmc_that_refuses_http_boot_is_told_to_boot_by_pxe_in_the_same_attempt() -> None:
    """sushy-tools offers UefiHttp and answers 400 to an .efi."""
    one = server(faults=Faults(refuses_boot=frozenset({"UefiHttp"})))
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)
    assert one.override[1] == "Pxe"
    told = [event.reason for event in site.nodes.events.all if event.kind is EventKind.OBSERVED]
    assert told[0] == "its BMC does not take UefiHttp: UefiHttp is not possible; trying the next way"
    assert len([reason for reason in told if "does not take" in reason]) == 1


def test_a_bmc_that_sets_something_else_is_told_to_boot_by_pxe() -> None:
    """sushy-tools makes a CD of what HttpBootUri names, and says Cd."""
    one = server(faults=Faults(boots_from="Cd"))
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)
    assert any("does not take UefiHttp: it set Cd instead" in reason for reason in site.events_of(one.name))


def test_where_every_way_is_refused_a_person_reads_the_bmcs_words() -> None:
    one = server(faults=Faults(refuses_boot=frozenset({"UefiHttp", "Pxe"})))
    _, hold, _ = held(one)
    assert hold.reason == "its BMC does not take Pxe: Pxe is not possible"
    assert "BIOS set-up" in hold.instruction.what
    assert one.host_starts == 2, "firmware and BIOS only: nothing was switched on to boot"


@pytest.mark.parametrize("kind", ["fetch", "network"])
def test_a_failure_of_the_network_is_tried_again(kind: str) -> None:
    one = server(faults=Faults(initrd=(kind, "http://mirror: no route to host"), boots_ill=2))
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)
    failure = f"its boot failed ({kind}): http://mirror: no route to host"
    assert [reason for reason in site.events_of(one.name) if reason == failure]
    assert one.host_starts == 2 + 3


@pytest.mark.parametrize(("kind", "word"), [("fetch", "repair that server"), ("network", "ask the image owner")])
def test_a_network_that_stays_away_is_told_with_the_last_reason(kind: str, word: str) -> None:
    one = server(faults=Faults(initrd=(kind, "http://mirror: no route to host")))
    _, hold, _ = held(one)
    assert hold.reason == (
        f"switched on 3 times, and no agent reported; its boot failed ({kind}): http://mirror: no route to host"
    )
    assert word in hold.instruction.what
    assert one.host_starts == 2 + 3


BAD = "root from http://m1 and http://m2 is not sha256:r"


@pytest.mark.parametrize(
    ("kind", "sound", "owner", "words"),
    [
        ("integrity", True, Owner.TECHNICIAN, ("our own copy of the root is sound", "sha256sum", "memory test")),
        ("integrity", False, Owner.IMAGE_OWNER, ("our own copy of the root is damaged", "delete the file")),
        ("memory", True, Owner.TECHNICIAN, ("reseat", "smaller root")),
        ("mount", True, Owner.IMAGE_OWNER, ("cannot mount the root", "firstlight node reimage r01-u01 --release")),
    ],
)
def test_a_failure_that_no_other_try_mends_holds_at_once(
    kind: str, sound: bool, owner: Owner, words: tuple[str, ...]
) -> None:
    """Never "try again" blindly: a flipped byte comes from somewhere."""
    one = server(faults=Faults(initrd=(kind, BAD)))
    _, hold, site = held(one, sound=sound)
    assert hold.reason == f"its boot failed ({kind}): {BAD}"
    assert hold.instruction.owner is owner
    assert all(word in hold.instruction.what for word in words), hold.instruction.what
    assert one.host_starts == 2 + 1
    assert site.path_of(one.name).count(State.HELD) == 1


def test_a_node_whose_image_was_put_right_boots_when_it_is_let_go() -> None:
    """The failure belongs to the attempt: a new one begins with a new permission."""
    one = server(faults=Faults(initrd=("integrity", BAD), boots_ill=1))

    async def act(site: Site) -> None:
        while (await site.nodes.get(NAME)).state is not State.HELD:  # noqa: ASYNC110 - in simulated time
            await asyncio.sleep(30)
        await services.release(site.world, NAME, "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert_ready(site, one, node)


def test_secure_boot_and_an_unsigned_program_are_told_before_anything_is_switched_on() -> None:
    one = server(faults=Faults(secure_boot=True))
    _, hold, _ = held(one)
    assert hold.reason.startswith("Secure Boot is on, and the boot program of image sha256:")
    assert "firstlight boot keys" in hold.instruction.what
    assert "switch Secure Boot off" in hold.instruction.what
    assert one.host_starts == 2


@pytest.mark.parametrize(("secure_boot", "signed"), [(True, True), (False, False), (None, False), (None, True)])
def test_secure_boot_is_no_matter_where_the_program_is_signed_or_the_bmc_says_nothing(
    secure_boot: bool | None, signed: bool
) -> None:
    one = server(faults=Faults(secure_boot=secure_boot))
    site = Site([one], signed=signed)
    (node,) = site.run()
    assert_ready(site, one, node)


def test_a_program_that_firmware_does_not_start_is_told_from_one_that_starts_and_stops() -> None:
    """It was fetched, and nothing in it asked for the words of the boot."""
    one = server(faults=Faults(agent="refused"))
    _, hold, _ = held(one)
    assert "fetched its boot program 3 times, and nothing in it has asked for the words" in hold.reason
    assert "Access Denied" in hold.instruction.what


@pytest.mark.parametrize(
    ("faults", "seen"),
    [
        (Faults(agent="refused"), "it fetched its boot program 3 times, and nothing in it has asked for the words"),
        (
            Faults(agent="never", refuses_boot=frozenset({"UefiHttp"})),
            "it asked for its image 3 times, and its initrd has reported nothing",
        ),
    ],
)
def test_an_initrd_that_may_have_got_no_address_is_told_by_name(faults: Faults, seen: str) -> None:
    """Without an address it cannot report: its console says "no answer by DHCP", and the hold says what to do then."""
    one = server(faults=faults)
    _, hold, _ = held(one)
    assert seen in hold.reason
    assert "no answer by DHCP" in hold.reason
    assert 'where it says "no answer by DHCP"' in hold.instruction.what
    assert "addresses left" in hold.instruction.what
    words = (Path(images.__file__).parent / "initrd" / "firstlight-network").read_text(encoding="utf-8")
    assert "no answer by DHCP" in words, "the instruction names what stands on the console"
