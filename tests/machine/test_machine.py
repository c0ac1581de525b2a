"""A real machine: its own firmware boots our image over a real network, from our services, and our agent reports.

Everything is what a site runs: sushy-tools and libvirt as the BMC, OVMF as the firmware, dnsmasq as the daemon's child,
a kernel, an initrd and a verified root that were built from a profile.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from images.digest import Digest
from images.manifest import parse_manifest
from images.references import Reference, write_reference
from images.store import ArtefactStore
from profiles.images.lock import profile_digest
from tests.images.built import slim_profile
from tests.machine.conftest import FIRST, SECOND, UNTRUE, Images
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
    assert "wrong bytes for sha256:" in held["hold"]["reason"], held["hold"]
    assert "our own copy of the root is damaged" in held["hold"]["instruction"]["what"]
    wait_for(lambda: site.redfish("GET", "")["PowerState"] == "Off", 180, site.logs, every=2)
    flip(root)
    site.command("node", "release", NODE)
    assert site.await_node("ready", "held")["observed_image"] == images.first


def test_a_root_that_is_not_what_its_hash_tree_says_is_refused(site: MachineSite, images: Images) -> None:
    """Right by sha256, wrong by dm-verity: an image whose maker, or whoever was between, had another root in mind."""
    store = ArtefactStore(site.folder / "artefacts")
    true = parse_manifest(store.path(Digest(images.first)).read_bytes())
    assert true.bootable is not None
    untrue = replace(true, bootable=replace(true.bootable, verity_root_hash="0" * 64))
    profile = slim_profile(images.profiles, "virtual-machine-c")
    digest = store.put_bytes(untrue.canonical_json())
    write_reference(
        site.folder, Reference(profile.name, digest, profile_digest(profile), digest, "", "2026-01-01T00:00:00Z")
    )
    site.command("node", "reimage", NODE, "--release", UNTRUE)
    held = site.await_node("held")
    assert held["observed_image"] == images.first
    assert "root hash" in held["hold"]["reason"], held["hold"]


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
