"""Whole hosts that boot over the network, and what can go wrong on the way; over HTTPS and HTTP."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from emulator.config import FaultSetting
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, build_root, digest_of
from tests.emulator.efi import build_efi, make_key, sign_efi
from tests.emulator.one_bmc import OneBmc

SYSTEM = "/redfish/v1/Systems/1"
KEY = "0123456789abcdef0123456789abcdef"
PROGRAM = f"/boot/{KEY}/image.efi"
SECURE_BOOT = f"{SYSTEM}/SecureBoot"
DB = f"{SECURE_BOOT}/SecureBootDatabases/db/Certificates"
SQUASHFS = b"hsqs" + bytes(200_000)


@pytest.fixture
def server() -> Iterator[BootServer]:
    """The service: words for whoever asks."""
    with BootServer() as running:
        running.files["/boot/words"] = b"firstlight.node=n\nfirstlight.token=t\n"
        yield running


def uki(server: BootServer, root: bytes, *, inside: bool) -> bytes:
    """A program whose command line has no word of one boot; the root is in it, or the service has it."""
    words = f"firstlight.server={server.url} firstlight.image=sha256:{'1' * 64} firstlight.root={digest_of(root)}"
    if not inside:
        server.store(root)
    return build_efi(sections={".cmdline": words.encode(), ".linux": root if inside else b"kernel"})


def hosts(
    server: BootServer, *faults: FaultSetting, persona: str = "hgx-h100", boot_files: dict[str, str] | None = None
) -> EmulatedFleet:
    """One host that may boot by HTTP."""
    return EmulatedFleet([Bmc(persona, faults=faults)], boot_service=server.url, boot_files=boot_files)


def boot_http(fleet: EmulatedFleet, server: BootServer, path: str = PROGRAM) -> BmcClient:
    client = BmcClient(fleet.bmcs[0])
    allowed = client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": {"IPv4HTTPSupport_00F5": "Enabled"}})
    assert allowed.status_code == 200, allowed.text
    boot = {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}
    answer = client.send("PATCH", SYSTEM, json={"Boot": {**boot, "HttpBootUri": f"{server.url}{path}"}})
    assert answer.status_code == 204, answer.text
    assert client.reset("On").status_code == 204
    return client


def truth(fleet: EmulatedFleet) -> dict[str, Any]:
    return fleet.truth(fleet.bmcs[0].name)


def off_because(fleet: EmulatedFleet) -> str:
    wait_for(lambda: truth(fleet)["boot_failures"] and truth(fleet)["power"] == "Off")
    return str(truth(fleet)["boot_error"])


def refused(fleet: EmulatedFleet) -> str:
    return str(wait_for(lambda: truth(fleet)["boot_failures"] and truth(fleet)["boot_error"]))


@pytest.mark.parametrize("inside", [True, False])
def test_program_without_a_token_boots_with_the_words_of_the_service(server: BootServer, *, inside: bool) -> None:
    """UEFI HTTP boot of a unified kernel image: words, then the root, then the agent."""
    server.files[PROGRAM] = uki(server, build_root(), inside=inside)
    with hosts(server) as fleet:
        boot_http(fleet, server)
        assert b'"firstlight.token": "t"' in wait_for(lambda: server.hellos)[0]
        assert server.heads == [(PROGRAM, "UefiHttpBoot/1.0")]
        assert truth(fleet)["boot_error"] is None


def test_stand_in_speaks_for_a_root_that_is_a_file_system(server: BootServer) -> None:
    """Nothing here mounts a squashfs, so no process runs; the root that it reports is the one that was fetched."""
    server.files[PROGRAM] = uki(server, SQUASHFS, inside=False)
    with hosts(server) as fleet:
        boot_http(fleet, server)
        register = wait_for(lambda: server.hellos)[0]
        assert digest_of(SQUASHFS).encode() in register
        now = wait_for(lambda: (truth(fleet)["agent_alive"] and truth(fleet)) or None)
        assert (now["agent_pid"], now["booted_image"]) == (None, f"sha256:{'1' * 64}")


def test_root_with_a_changed_bit_is_reported_and_the_host_is_off(server: BootServer) -> None:
    """wrong-artefact for ever; the console says it, too."""
    server.files[PROGRAM] = uki(server, SQUASHFS, inside=False)
    with hosts(server, "wrong-artefact") as fleet:
        client = boot_http(fleet, server)
        assert "UefiHttp: integrity: " in off_because(fleet)
        assert client.get(SYSTEM)["PowerState"] == "Off"
        assert [(token, report["kind"]) for token, report in server.failures] == [("Bearer t", "integrity")]
        assert truth(fleet)["boots"] == 0
        fleet.clear_fault(fleet.bmcs[0].name, "wrong-artefact")
        boot_http(fleet, server)
        wait_for(lambda: truth(fleet)["boots"] == 1)


def test_host_that_powers_itself_off_says_why_for_a_minute_before(server: BootServer) -> None:
    """Whoever stands at the console can read it; durations are emulated."""
    server.files[PROGRAM] = uki(server, SQUASHFS, inside=False)
    bmcs = [Bmc(faults=("initrd-without-network",))]
    with EmulatedFleet(bmcs, boot_service=server.url, speed=60.0) as fleet:
        boot_http(fleet, server)
        wait_for(lambda: truth(fleet)["boot_failures"])
        began = time.monotonic()
        assert truth(fleet)["power"] == "On"
        assert "network: no port" in off_because(fleet)
        assert time.monotonic() - began > 0.5
        assert server.failures == []


def test_power_lost_between_words_and_root_leaves_the_host_off(server: BootServer) -> None:
    """power-lost-in-initrd: as operate-first/operations#356, at the worst moment."""
    server.files[PROGRAM] = uki(server, SQUASHFS, inside=False)
    with hosts(server, "power-lost-in-initrd") as fleet:
        boot_http(fleet, server)
        assert "lost power" in off_because(fleet)
        assert server.requests[-1][0].startswith("/boot/words?")
        boot_http(fleet, server)
        wait_for(lambda: truth(fleet)["boots"] == 1)


def test_firmware_may_ignore_the_uri_and_boot_what_dhcp_offers(server: BootServer) -> None:
    """http-boot-uri-ignored: the address for the architecture, without a key."""
    server.files["/boot/uefi/x86_64.efi"] = uki(server, build_root(), inside=True)
    boot_files = {"0x0010": "{boot_service}/boot/uefi/{arch}.efi"}
    with hosts(server, "http-boot-uri-ignored", boot_files=boot_files) as fleet:
        boot_http(fleet, server)
        wait_for(lambda: server.hellos)
        assert server.heads == [("/boot/uefi/x86_64.efi", "UefiHttpBoot/1.0")]


def test_firmware_that_begins_late_begins_late(server: BootServer) -> None:
    """http-boot-delayed: metal-stack/mini-lab#196."""
    server.files[PROGRAM] = uki(server, build_root(), inside=True)
    bmcs = [Bmc(faults=({"http-boot-delayed": {"seconds": 600}},))]
    with EmulatedFleet(bmcs, boot_service=server.url, speed=300.0) as fleet:
        boot_http(fleet, server)
        wait_for(lambda: truth(fleet)["phase"] == "booting")
        began = time.monotonic()
        wait_for(lambda: server.heads)
        assert time.monotonic() - began > 1


def test_head_that_is_refused_or_needed(server: BootServer) -> None:
    """http-boot-head-refused, http-boot-needs-head: a service that answers HEAD as GET suits both."""
    server.files[PROGRAM] = uki(server, build_root(), inside=True)
    with hosts(server, "http-boot-head-refused") as fleet:
        boot_http(fleet, server)
        wait_for(lambda: server.hellos)
        assert server.heads == []
    with hosts(server, "http-boot-needs-head") as fleet:
        boot_http(fleet, server, "/boot/none.efi")
        assert "does not tell its size: HEAD answered 404" in refused(fleet)


def enable_secure_boot(client: BmcClient, *certificates: str) -> None:
    """Factory keys, and these in db."""
    reset = {"ResetKeysType": "ResetAllKeysToDefault"}
    assert client.send("POST", f"{SECURE_BOOT}/Actions/SecureBoot.ResetKeys", json=reset).status_code == 204
    for pem in certificates:
        body = {"CertificateString": pem, "CertificateType": "PEM"}
        assert client.send("POST", DB, json=body).status_code == 201
    assert client.send("PATCH", SECURE_BOOT, json={"SecureBootEnable": True}).status_code == 204


def test_secure_boot_starts_what_a_key_of_db_has_signed(server: BootServer) -> None:
    """UEFI 2.10, 32.4; kairos-io/AuroraBoot#269. secure-boot-key-unknown takes the site's key away."""
    site = make_key("site")
    program = uki(server, build_root(), inside=True)
    with hosts(server) as fleet:
        client = BmcClient(fleet.bmcs[0])
        enable_secure_boot(client)
        server.files[PROGRAM] = program
        boot_http(fleet, server)
        assert "image.efi is not signed" in refused(fleet)
        assert client.get(SECURE_BOOT)["SecureBootCurrentBoot"] == "Enabled"
        server.files[PROGRAM] = sign_efi(program, site)
        wait_for(lambda: "CN=site, which is not in db" in truth(fleet)["boot_error"])
        assert client.send("POST", DB, json={"CertificateString": site.pem, "CertificateType": "PEM"}).ok
        wait_for(lambda: server.hellos)
        assert KEY not in str(fleet.directory.joinpath("log.txt").read_text())
        client.reset("ForceOff")
        wait_for(lambda: truth(fleet)["power"] == "Off")
        fleet.set_fault(fleet.bmcs[0].name, "secure-boot-key-unknown")
        boot_http(fleet, server)
        wait_for(lambda: "which is not in db" in (truth(fleet)["boot_error"] or ""))


def test_secure_boot_that_needs_somebody_at_the_machine_stays_on(server: BootServer) -> None:
    """secure-boot-stays-on: lenovo/python-redfish-lenovo#129; the BMC says what is, and what was asked for."""
    server.files[PROGRAM] = uki(server, build_root(), inside=True)
    with hosts(server, "secure-boot-stays-on") as fleet:
        client = BmcClient(fleet.bmcs[0])
        boot_http(fleet, server)
        wait_for(lambda: server.hellos)  # without a platform key nothing is enforced
        enable_secure_boot(client)
        assert client.send("PATCH", SECURE_BOOT, json={"SecureBootEnable": False}).status_code == 204
        client.reset("ForceOff")
        wait_for(lambda: truth(fleet)["power"] == "Off")
        boot_http(fleet, server)
        assert "is not signed" in refused(fleet)
        shown = client.get(SECURE_BOOT)
        assert (shown["SecureBootEnable"], shown["SecureBootCurrentBoot"]) == (False, "Enabled")


@pytest.mark.parametrize("status", [400, 500])
def test_bmc_may_refuse_a_uri_that_ends_in_efi(one: OneBmc, status: int) -> None:
    """http-boot-uri-refused: sushy-tools takes the file for an ISO and fails; nothing of the request is kept."""
    one.set_fault("http-boot-uri-refused", status=status)
    client = one.client()
    boot = {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}
    for ending, answered in ((".efi", status), (".efi?x=1", status), (".iso", 204)):
        answer = client.send("PATCH", SYSTEM, json={"Boot": {**boot, "HttpBootUri": f"http://h/a{ending}"}})
        assert answer.status_code == answered, answer.text
    assert client.get(SYSTEM)["Boot"]["HttpBootUri"] == "http://h/a.iso"


def test_bmc_may_say_none_for_a_uri_that_is_not_set(one: OneBmc) -> None:
    """http-boot-uri-reads-none: sushy-tools' template; what it says cannot be written back."""
    one.set_fault("http-boot-uri-reads-none")
    client = one.client()
    assert client.get(SYSTEM)["Boot"]["HttpBootUri"] == "None"
    assert client.send("PATCH", SYSTEM, json={"Boot": {"HttpBootUri": "None"}}).status_code == 400
    assert client.send("PATCH", SYSTEM, json={"Boot": {"HttpBootUri": "http://h/a.efi"}}).status_code == 204
    assert client.get(SYSTEM)["Boot"]["HttpBootUri"] == "http://h/a.efi"


def test_bmc_may_keep_every_override_for_every_boot(server: BootServer) -> None:
    """boot-always-continuous: sushy-tools; the node boots the same again until the override is changed."""
    server.offer("/boot/ipxe", build_root())
    with hosts(server, "boot-always-continuous") as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Continuous"
        once = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}
        assert client.send("PATCH", SYSTEM, json={"Boot": once}).status_code == 204
        for boots in (1, 2):
            client.reset("On" if boots == 1 else "ForceRestart")
            wait_for(lambda boots=boots: truth(fleet)["boots"] == boots)  # type: ignore[misc]
            assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Continuous"
        none = {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled"}
        assert client.send("PATCH", SYSTEM, json={"Boot": none}).status_code == 204
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideTarget"] == "None"
