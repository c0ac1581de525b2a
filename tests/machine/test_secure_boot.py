"""Secure Boot with the site's own keys, UEFI HTTP boot and a TPM: what is not signed never starts, and is not tried."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine.conftest import FIRST, Images
from tests.machine.site import NODE, MachineSite, wait_for
from tests.requirements import need

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("machine"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PK, KEK and db as `firstlight boot keys` makes them."""
    folder = tmp_path_factory.mktemp("keys") / "keys"
    subprocess.run([sys.executable, "-m", "provisioner", "boot", "keys", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def site(images: Images, keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSite]:
    """A machine whose owner has enrolled the keys; its firmware boots by HTTP."""
    need(shutil.which("sbsign") is not None, "sbsign is not installed")
    need(shutil.which("swtpm_setup") is not None, "swtpm-tools is not installed")
    folder = tmp_path_factory.mktemp("secure")
    images.lend_to(folder)
    with MachineSite(folder, secure_variables=keys / "OVMF_VARS.fd", http_boot=True, tpm=True) as running:
        running.redfish("PATCH", "/SecureBoot", {"SecureBootEnable": True})
        running.configure({"virtual-machine": FIRST}, profiles=str(images.profiles))
        yield running


def test_a_program_that_firmware_would_refuse_is_not_even_tried(site: MachineSite) -> None:
    """Secure Boot is on and nothing is signed: a person is told which field of which file."""
    site.serve()
    held = site.await_node("held")
    assert "Secure Boot is on" in held["hold"]["reason"]
    instruction = held["hold"]["instruction"]
    assert instruction["where"] == "site.yaml, field network_boot.sign"
    assert "firstlight boot keys DIR" in instruction["what"]
    assert site.redfish("GET", "")["PowerState"] == "Off"
    assert "UEFI HTTPv4" not in site.console


def test_a_signed_program_boots_by_http_under_secure_boot(site: MachineSite, images: Images, keys: Path) -> None:
    """The same program for all nodes: its initrd asks for the words of this boot, as its own are signed."""
    site.stop()
    sign = {"key": str(keys / "db.key"), "certificate": str(keys / "db.pem")}
    site.configure({"virtual-machine": FIRST}, profiles=str(images.profiles), network_boot={"sign": sign})
    site.serve()
    site.command("node", "release", NODE)
    wait_for(lambda: site.node()["state"] != "held", 60, site.logs)
    assert site.await_node("ready")["observed_image"] == images.first
    assert "UEFI HTTPv4" in site.console
    assert "started secure_boot=on tpm=2" in site.console
