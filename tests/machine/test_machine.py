"""A real machine: its own firmware boots our image over a real network, from our services, and our agent reports.

Everything is what a site runs: sushy-tools and libvirt as the BMC, OVMF as the firmware, dnsmasq as the daemon's child,
a kernel, an initrd and a verified root that were built from a profile.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from images.digest import Digest
from images.manifest import parse_manifest
from images.store import ArtefactStore
from tests.machine.conftest import FIRST, SECOND, Images
from tests.machine.site import NODE, MachineSite, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("machine"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def site(images: Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSite]:
    """A machine that boots by PXE; it goes through all the tests of this module, one after the other."""
    folder = tmp_path_factory.mktemp("machine")
    images.lend_to(folder)
    with MachineSite(folder) as running:
        running.configure({"virtual-machine": FIRST}, profiles=str(images.profiles))
        yield running


def test_a_dark_machine_becomes_ready_by_itself(site: MachineSite, images: Images) -> None:
    """DHCP, TFTP, iPXE, kernel, verified root, agent, burn-in; BIOS settings and the boot device set before."""
    assert site.redfish("GET", "")["PowerState"] == "Off"
    site.serve()
    node = site.await_node("ready")
    assert node["observed_image"] == images.first
    assert site.redfish("GET", "/BIOS")["Attributes"]["ProcTurboMode"] == "Disabled"
    assert site.redfish("GET", "")["Boot"]["BootSourceOverrideTarget"] == "Pxe"
    results = {result["item"]: result["status"] for result in node["burn_in"]["results"]}
    assert results == dict.fromkeys(("cpu", "memory", "disk"), "pass")
    assert "NBP filename is ipxe.efi" in site.console
    assert "the root is verified and mounted" in site.console


def test_it_flips_to_a_second_image(site: MachineSite, images: Images) -> None:
    """Another digest; the service and the node agree on it."""
    site.command("node", "reimage", NODE, "--release", SECOND)
    site.await_node("inventoried", "updating_firmware", "configuring_bios", "booting")
    assert site.await_node("ready")["observed_image"] == images.second


def test_a_damaged_root_is_refused_by_the_machine_which_is_held(site: MachineSite, images: Images) -> None:
    """One byte in the middle of the file: nothing of it runs, nobody tries for ever, and a person is told."""
    root = root_of(site, images.first)
    flip(root)
    site.command("node", "reimage", NODE, "--release", FIRST)
    held = site.await_node("held")
    assert held["observed_image"] == images.second
    assert "sha256" in held["hold"]["reason"], held["hold"]
    wait_for(lambda: site.redfish("GET", "")["PowerState"] == "Off", 180, site.logs, every=2)
    flip(root)
    site.command("node", "release", NODE)
    assert site.await_node("ready", "held")["observed_image"] == images.first


def root_of(site: MachineSite, image: str) -> Path:
    """The file of an image's root in the store."""
    store = ArtefactStore(site.folder / "artefacts")
    manifest = parse_manifest(store.path(Digest(image)).read_bytes())
    return store.path(manifest.artefact("root").digest)


def flip(path: Path) -> None:
    """Change one byte in the middle, or change it back; the file is a new one, as others may link to the old."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    new = path.with_suffix(".flipped")
    new.write_bytes(content)
    new.replace(path)
