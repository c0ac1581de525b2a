"""A real machine: its own firmware boots our image over a real network, from our services, and our agent reports.

Everything is what a site runs: sushy-tools and libvirt as the BMC, OVMF as the firmware, dnsmasq as the daemon's child,
a kernel, an initrd and a verified root that were built from a profile.
"""

from pathlib import Path

import pytest

from images.digest import Digest
from images.manifest import parse_manifest
from images.store import ArtefactStore
from tests.machine.conftest import FIRST, SECOND, build
from tests.machine.site import NODE, MachineSite

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("machine"), pytest.mark.timeout(1800)]


def test_a_dark_machine_becomes_ready_by_itself(site: MachineSite, profiles: Path) -> None:
    """DHCP, TFTP, iPXE, kernel, verified root, agent, burn-in; BIOS settings and the boot device set before."""
    digest = build(site.folder, profiles, "virtual-machine")
    site.configure({"virtual-machine": FIRST}, profiles=str(profiles))
    assert site.redfish("GET", "")["PowerState"] == "Off"
    site.serve()
    node = site.await_node("ready")
    assert node["observed_image"] == digest
    assert site.redfish("GET", "/BIOS")["Attributes"]["ProcTurboMode"] == "Disabled"
    assert site.redfish("GET", "")["Boot"]["BootSourceOverrideTarget"] == "Pxe"
    assert {result["item"]: result["status"] for result in node["burn_in"]["results"]} == dict.fromkeys(
        ("cpu", "memory", "disk"), "pass"
    )


def test_it_flips_to_a_second_image(site: MachineSite, profiles: Path) -> None:
    """Another digest, the same bootstrap: only a file differs."""
    digest = build(site.folder, profiles, "virtual-machine-b")
    site.command("node", "reimage", NODE, "--release", SECOND)
    site.await_node("inventoried", "booting")
    assert site.await_node("ready")["observed_image"] == digest


def test_a_damaged_root_is_refused_by_the_machine_which_is_held(site: MachineSite, profiles: Path) -> None:
    """One byte in the middle of the file: the digest does not match, nothing of it runs, nobody tries for ever."""
    first = build(site.folder, profiles, "virtual-machine")
    root = root_of(site, first)
    flip(root)
    site.command("node", "reimage", NODE, "--release", FIRST)
    held = site.await_node("held")
    assert "does not match" in held["hold"]["reason"] or "digest" in held["hold"]["reason"], held["hold"]
    assert held["observed_image"] != first
    flip(root)
    site.command("node", "release", NODE)
    assert site.await_node("ready")["observed_image"] == first


def root_of(site: MachineSite, image: str) -> Path:
    """The file of an image's root in the store."""
    store = ArtefactStore(site.folder / "artefacts")
    manifest = parse_manifest(store.path(Digest(image)).read_bytes())
    return store.path(manifest.artefact("root").digest)


def flip(path: Path) -> None:
    """Change one byte, or change it back."""
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte ^ 0xFF]))
    path.chmod(0o444)
