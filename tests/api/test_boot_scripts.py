"""Scripts for iPXE: what a node runs, and nothing that anybody wrote becomes a command."""

from dataclasses import replace
from pathlib import Path

import pytest

from api.boot_script import discover_script, image_script, leave_script
from images.boot_program.build import BootProgram
from images.digest import digest_of
from images.manifest import Artefact, Bootable, ImageManifest
from provisioner.boot.answer import BootImage, Discover, LeaveNetworkBoot
from provisioner.models.boot import BootTicket, Caller
from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Secret

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
SERVER, MIRRORS = "http://10.0.0.1:8410", ("http://mirror-1.example", "http://mirror-2.example:8080")
ROOT = Artefact("root", digest_of(b"root"), 4)
AGENT = ImageManifest("agent-x86-64", "x86_64", (ROOT,))
DEBIAN = ImageManifest(
    "debian-12-base",
    "x86_64",
    (ROOT, Artefact("kernel", digest_of(b"kernel"), 6), Artefact("initrd", digest_of(b"initrd"), 6)),
    Bootable(
        "6.1.0-57-amd64",
        ("boot=firstlight", "ip=dhcp", "console=ttyS0"),
        "ab" * 32,
        4096,
        512,
        "uki_http",
        secure_boot=False,
    ),
)
SIGNED = BootProgram(digest_of(b"signed"), 6, signed=True)
GIVEN = BootImage(replace(TICKET, root=ROOT.digest))

SCRIPTS = {
    "boot.ipxe": image_script(GIVEN, AGENT, None, server=SERVER, mirrors=MIRRORS),
    "kernel.ipxe": image_script(GIVEN, DEBIAN, None, server=SERVER, mirrors=MIRRORS),
    "program.ipxe": image_script(GIVEN, DEBIAN, SIGNED, server=SERVER, mirrors=MIRRORS),
    "leave.ipxe": leave_script(LeaveNetworkBoot("held: fan 3 is dead")),
    "discover.ipxe": discover_script(
        Discover(Caller("0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b", "MX1201C4", "52:54:00:00:00:01")), SERVER
    ),
}


@pytest.mark.parametrize("golden", SCRIPTS)
def test_scripts_for_ipxe(golden: str) -> None:
    """Read them as a person: they are what a node runs."""
    assert SCRIPTS[golden] == (GOLDEN / golden).read_text()


def test_the_script_for_secure_boot_holds_no_secret() -> None:
    """Its program asks for its words; nothing that is passed to a signed program counts."""
    assert "TOKEN" not in SCRIPTS["program.ipxe"]


@pytest.mark.parametrize(
    "reason", ["held: \nkernel http://evil/x\nboot", "a\r\nboot", "\x1b[2J", "Lüfter {{ 7 * 7 }}", ""]
)
def test_a_reason_is_one_line_whatever_somebody_wrote(reason: str) -> None:
    lines = leave_script(LeaveNetworkBoot(reason)).split("\n")
    assert [lines[0], lines[2], lines[3]] == ["#!ipxe", "exit", ""]
    assert lines[1].startswith("#")
    assert lines[1].isascii()
    assert lines[1].isprintable()


@pytest.mark.parametrize(
    "said", ["x\nchain http://evil/x", "${net0/mac}", "a || shell", "a && reboot; b", "#", "é" * 300]
)
def test_what_a_stranger_says_is_no_command(said: str) -> None:
    plain = discover_script(Discover(Caller("u", "s", "m")), "http://x").split("\n")
    lines = discover_script(Discover(Caller(said, said, said)), "http://x").split("\n")
    assert len(lines) == len(plain)
    (told,) = [line for line in lines if line.startswith("echo Firstlight: serial")]
    assert not set(told) & set("${}|&;#\\\n")
    assert len(told) < 300
