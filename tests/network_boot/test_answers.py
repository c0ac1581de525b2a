"""What dnsmasq, with the configuration that we write, answers each kind of firmware. In network namespaces."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from provisioner.network_boot.child import dnsmasq, prepare
from provisioner.network_boot.dnsmasq import Place, render_dnsmasq
from provisioner.network_boot.settings import NetworkBoot
from tests.network_boot.namespace import ADDRESS, NETWORK, Namespaces, namespaces, need_namespaces, text_of, until
from tests.network_boot.sites import URL, network_boot

SCRIPT = f"{URL}/boot/ipxe?uuid=${{uuid}}&serial=${{serial}}&mac=${{mac}}&arch=${{buildarch}}"
PROGRAM = b"MZ" + bytes(range(256)) * 4000
"""A megabyte: as big as iPXE."""


def vendor(word: str, arch: int) -> tuple[str, ...]:
    """As firmware says it."""
    return ("--vendor", f"{word}:Arch:{arch:05}:UNDI:003016", "--arch", str(arch))


def site(folder: Path, mode: str) -> NetworkBoot:
    """With programs of its own for all three kinds of firmware."""
    for name in ("x86_64.efi", "arm64.efi", "bios.kpxe"):
        (folder / name).write_bytes(name.encode() + PROGRAM)
    ipxe = {"x86_64": str(folder / "x86_64.efi"), "arm64": str(folder / "arm64.efi")}
    fields = network_boot(mode, ipxe=ipxe, ipxe_bios=str(folder / "bios.kpxe"))
    return NetworkBoot.model_validate(fields)


@contextmanager
def answering(net: Namespaces, config: Path) -> Iterator[None]:
    """dnsmasq runs."""
    log = config.with_name("log")
    with log.open("wb") as file:
        command = net.in_server(dnsmasq(), "--keep-in-foreground", f"--conf-file={config}")
        process = subprocess.Popen(command, stderr=file)
    try:
        until(lambda: "TFTP root" in log.read_text())
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Namespaces]:
    """Full DHCP."""
    need_namespaces("dnsmasq", "curl")
    folder = tmp_path_factory.mktemp("full")
    config = prepare(site(folder, "full"), Place("trial", URL, folder / "dhcp"))
    with namespaces() as net, answering(net, config):
        yield net


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Namespaces]:
    """Boot options beside another server, which is not there: the client has its address already."""
    need_namespaces("dnsmasq", "curl")
    folder = tmp_path_factory.mktemp("proxy")
    boot, place = site(folder, "proxy"), Place("trial", URL, folder)
    (folder / "tftp").mkdir()
    config = folder / "dnsmasq.conf"
    config.write_text(render_dnsmasq(boot, place, networks=[IPv4Network(NETWORK)]))
    with namespaces() as net, answering(net, config):
        net.client_says("ip", "address", "add", "10.77.0.9/24", "dev", "node0")
        yield net


@pytest.mark.parametrize(
    ("arch", "program"), [(7, "ipxe.efi"), (9, "ipxe.efi"), (11, "ipxe-arm64.efi"), (0, "undionly.kpxe")]
)
def test_pxe_firmware_gets_ipxe_for_its_architecture(full: Namespaces, arch: int, program: str) -> None:
    """RFC 4578; IANA's numbers. The answer names the TFTP server, which has the file."""
    ack = full.ask(f"02:00:00:00:01:{arch:02x}", *vendor("PXEClient", arch))["ack"]
    assert text_of(ack["options"]["67"]) == program
    assert ack["next_server"] == ADDRESS
    assert (ack["options"]["1"], ack["options"]["3"], int(ack["options"]["51"], 16)) == ("ffffff00", "0a4d0001", 120)
    assert "6" not in ack["options"], "we serve no DNS"


@pytest.mark.parametrize(("arch", "name"), [(16, "x86_64"), (19, "arm64")])
def test_uefi_that_boots_by_http_gets_a_url_and_its_own_word(full: Namespaces, arch: int, name: str) -> None:
    """UEFI 2.10, 24.7.3.1: without HTTPClient in option 60 the offer is ignored."""
    ack = full.ask(f"02:00:00:00:02:{arch:02x}", *vendor("HTTPClient", arch))["ack"]
    assert text_of(ack["options"]["60"]) == "HTTPClient"
    assert text_of(ack["options"]["67"]) == f"{URL}/boot/uefi/{name}.efi"


@pytest.mark.parametrize(("word", "arch"), [("PXEClient", 7), ("PXEClient", 0), ("HTTPClient", 16)])
def test_ipxe_gets_its_script_whatever_started_it(full: Namespaces, word: str, arch: int) -> None:
    """Else it would be given itself for ever."""
    ack = full.ask(f"02:00:00:00:03:{arch:02x}", *vendor(word, arch), "--user-class", "iPXE")["ack"]
    assert text_of(ack["options"]["67"]) == SCRIPT


def test_who_wants_no_boot_file_gets_an_address_alone(full: Namespaces) -> None:
    """A BMC, or a system that runs."""
    ack = full.ask("02:00:00:00:04:01", "--vendor", "iDRAC")["ack"]
    assert ack["address"].startswith("10.77.0.")
    assert (ack["file"], "67" in ack["options"], "60" in ack["options"]) == ("", False, False)


def test_programs_come_by_tftp_and_nothing_else_does(full: Namespaces, tmp_path: Path) -> None:
    full.ask("02:00:00:00:05:01", *vendor("PXEClient", 7), "--keep")
    got = tmp_path / "got"
    for name, first in (("ipxe.efi", b"x86_64.efi"), ("ipxe-arm64.efi", b"arm64.efi"), ("undionly.kpxe", b"bios.kpxe")):
        full.client_says("curl", "-s", "-o", str(got), f"tftp://{ADDRESS}/{name}")
        assert got.read_bytes() == first + PROGRAM
    for name in ("../dnsmasq.conf", "../leases", "%2e%2e/dnsmasq.conf", "//etc/passwd"):
        command = full.in_client("curl", "-s", "--path-as-is", "-o", got, f"tftp://{ADDRESS}/{name}")
        assert subprocess.run(command, timeout=60).returncode in {68, 69}, f"{name}: not found, or refused"


def test_nobody_hears_an_answer_to_dns(full: Namespaces) -> None:
    """port=0: a boot network has its own DNS."""
    listening = subprocess.run(full.in_server("ss", "-Htuln"), capture_output=True, text=True, timeout=30).stdout
    ports = {line.split()[4].rsplit(":", 1)[1] for line in listening.splitlines()}
    assert ports == {"67", "69"}
    assert all("boot0" in line or ADDRESS in line for line in listening.splitlines()), listening


def boot_server(net: Namespaces, arch: int, *words: str) -> Any:
    """PXE asks the proxy's port 4011 once it has an address."""
    return net.ask(f"02:00:00:00:06:{arch:02x}", *vendor("PXEClient", arch), *words, "--boot-server", ADDRESS)["ack"]


@pytest.mark.parametrize(("arch", "program"), [(7, "ipxe.efi"), (9, "ipxe.efi"), (11, "ipxe-arm64.efi")])
def test_a_proxy_gives_no_address_and_tells_uefi_the_program_at_port_4011(
    proxy: Namespaces, arch: int, program: str
) -> None:
    """PXE 2.1, 2.2.5: a proxy's offer has no yiaddr; UEFI is redirected."""
    (offer,) = proxy.ask(f"02:00:00:00:07:{arch:02x}", *vendor("PXEClient", arch), "--offers-only")["offers"]
    assert (offer["address"], text_of(offer["options"]["60"])) == ("0.0.0.0", "PXEClient")
    assert "51" not in offer["options"]
    ack = boot_server(proxy, arch)
    assert (ack["file"], ack["next_server"]) == (program, ADDRESS)


def test_a_proxy_offers_a_bios_its_boot_server(proxy: Namespaces) -> None:
    """PXE 2.1, 2.4: option 43 names our one boot service."""
    (offer,) = proxy.ask("02:00:00:00:07:00", *vendor("PXEClient", 0), "--offers-only")["offers"]
    assert b"Firstlight" in bytes.fromhex(offer["options"]["43"])


def test_a_proxy_tells_http_firmware_and_ipxe_in_its_first_answer(proxy: Namespaces) -> None:
    """Neither asks port 4011: EDK2's HttpBootDxe takes the bootfile of the proxy's offer."""
    (http,) = proxy.ask("02:00:00:00:08:10", *vendor("HTTPClient", 16), "--offers-only")["offers"]
    assert (text_of(http["options"]["60"]), http["file"]) == ("HTTPClient", f"{URL}/boot/uefi/x86_64.efi")
    (ipxe,) = proxy.ask("02:00:00:00:08:07", *vendor("PXEClient", 7), "--user-class", "iPXE", "--offers-only")["offers"]
    assert ipxe["file"] == SCRIPT


def test_a_proxy_is_silent_where_nobody_boots(proxy: Namespaces) -> None:
    """It must not disturb the server that gives out addresses."""
    assert proxy.ask("02:00:00:00:09:01", "--vendor", "iDRAC", "--offers-only", "--seconds", "2")["offers"] == []
