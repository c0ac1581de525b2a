"""`firstlight serve` with a DHCP server of its own: there as long as the daemon is, and what it gives out is seen."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.network_boot.namespace import (
    SERVER,
    Namespaces,
    children,
    namespaces,
    need_namespaces,
    text_of,
    until,
)
from tests.network_boot.sites import URL, Daemon, daemon, network_boot, refused, write_site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PXE = ("--vendor", "PXEClient:Arch:00007:UNDI:003016", "--arch", "7")
BMC_PORT = 8443
FIRSTLIGHT = (sys.executable, "-m", "provisioner")

SMALL_BMC = """
import http.server, json
class Bmc(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"RedfishVersion": "1.15.0", "UUID": "AB-77", "Vendor": "Example", "Product": "One"}).encode()
        self.send_response(200 if self.path == "/redfish/v1/" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
import ssl
server = http.server.HTTPServer(("0.0.0.0", %d), Bmc)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("bmc.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


@pytest.fixture
def net() -> Iterator[Namespaces]:
    """Of one test."""
    need_namespaces("dnsmasq", "curl", "ss", "setpriv", "openssl")
    with namespaces() as both:
        yield both


def config(folder: Path, mode: str = "full", **more: Any) -> Path:
    """With a program that stands for iPXE."""
    (folder / "ipxe.efi").write_bytes(b"MZ" * 1000)
    boot = network_boot(mode, ipxe={"x86_64": "ipxe.efi"}, **more)
    return write_site(folder, boot, discovery={"port": BMC_PORT, "every": "1s"})


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for tests that ask under MACs of their own; where nodes are, every address is a BMC's."""
    need_namespaces("dnsmasq", "curl", "ss", "setpriv", "openssl")
    folder = tmp_path_factory.mktemp("site")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -keyout bmc.pem -out cert.pem -subj /CN=bmc"
    subprocess.run(words.split(), cwd=folder, check=True, capture_output=True, timeout=60)
    with (folder / "bmc.pem").open("a") as both:
        both.write((folder / "cert.pem").read_text())
    with namespaces() as net:
        command = net.in_client("python3", "-c", SMALL_BMC % BMC_PORT)
        bmc = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
        try:
            with daemon(net, config(folder)) as running:
                yield running
        finally:
            bmc.kill()
            bmc.wait(timeout=30)


def unknown(running: Daemon, mac: str) -> dict[str, Any]:
    """The host with this MAC, once it is there."""
    told: dict[str, Any] = until(
        lambda: next((one for one in running.ask("/v1/discoveries")["hosts"] if one["mac"] == mac), None)
    )
    return told


def dnsmasq_of(running: Daemon) -> int:
    """Its process; dnsmasq has a second one that runs the script."""
    (child,) = [one for one in children(running.process.pid) if "dnsmasq" in _command(one)]
    return child


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except FileNotFoundError:
        return ""


def _alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_unknown_host_that_asks_for_an_address_is_shown(shared: Daemon) -> None:
    """With MAC, address and class, by the API and by the command, and what a person does about it."""
    mac = "02:00:00:00:01:01"
    ack = shared.net.ask(mac, *PXE)["ack"]
    assert text_of(ack["options"]["67"]) == "ipxe.efi"
    host = unknown(shared, mac)
    assert (host["address"], host["how"]) == (ack["address"], "dhcp")
    assert host["client_class"] == "PXEClient:Arch:00007:UNDI:003016"
    assert "put its server on the expected list" in host["instruction"]["what"]
    shown = _discover(shared.net, shared)
    assert ack["address"] in shown
    assert mac in shown


def _discover(net: Namespaces, running: Daemon) -> str:
    command = net.in_server(*FIRSTLIGHT, "discover", "--config", running.config)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("vendor", "mac"), [("iDRAC", "02:00:00:00:02:01"), ("udhcp 1.36.1", "02:00:00:00:02:02")])
def test_a_lease_of_a_bmc_is_looked_at_once_and_told_as_a_bmc(shared: Daemon, vendor: str, mac: str) -> None:
    """By its vendor class or without one: what answers a Redfish root is a BMC."""
    address = shared.net.ask(mac, "--vendor", vendor, "--keep")["ack"]["address"]
    found = until(
        lambda: next((one for one in shared.ask("/v1/discoveries")["unexpected"] if one["address"] == address), None)
    )
    assert (found["port"], found["uuid"], found["how"], found["vendor"]) == (BMC_PORT, "ab-77", "dhcp", "Example")
    assert mac not in {one["mac"] for one in shared.ask("/v1/discoveries")["hosts"]}


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_the_dhcp_server_ends_with_the_daemon(net: Namespaces, tmp_path: Path, end: signal.Signals) -> None:
    """Also after kill -9: an orphan would give out addresses that nobody remembers, and hold the port."""
    path = config(tmp_path)
    with daemon(net, path) as running:
        family = [dnsmasq_of(running)]
        family += children(family[0])
        assert all(map(_alive, family))
        before = net.ask("02:00:00:00:00:02", *PXE)["ack"]["address"]
        unknown(running, "02:00:00:00:00:02")
        running.process.send_signal(end)
        running.process.wait(timeout=60)
        until(lambda: not any(map(_alive, family)), 10)
        (tmp_path / "daemon.log").unlink()
    with daemon(net, path) as again:
        assert unknown(again, "02:00:00:00:00:02")["address"] == before
        assert net.ask("02:00:00:00:00:01", *PXE)["ack"]["address"] != before
        unknown(again, "02:00:00:00:00:01")


def test_it_is_started_again_when_it_dies_and_keeps_its_leases(net: Namespaces, tmp_path: Path) -> None:
    with daemon(net, config(tmp_path)) as running:
        first = net.ask("02:00:00:00:00:01", *PXE)["ack"]["address"]
        dead = dnsmasq_of(running)
        os.kill(dead, signal.SIGKILL)
        until(lambda: running.said("dhcp_server_started") == 2)
        assert "dhcp_server_ended" in running.log
        assert "last_lines" in running.log
        assert dnsmasq_of(running) != dead
        assert net.ask("02:00:00:00:00:01", *PXE)["ack"]["address"] == first


def test_a_host_that_comes_while_the_file_is_turned_is_not_lost(shared: Daemon) -> None:
    """The file of events is bounded."""
    events = shared.dhcp / "lease-events"
    with events.open("a") as file:
        file.writelines("nonsense\t" + "x" * 1000 + "\n" for _ in range(1100))
    until(lambda: not events.exists() or events.stat().st_size < 1000)
    shared.net.ask("02:00:00:00:03:01", *PXE)
    unknown(shared, "02:00:00:00:03:01")
    assert not events.with_name("lease-events.aside").exists()


def test_what_a_client_says_of_itself_stays_one_line(shared: Daemon) -> None:
    """Vendor class and name come from anybody on the network."""
    mac, rude = "02:00:00:00:04:01", "PXEClient\n\tdel\t\x1b[31m$(touch /tmp/owned)`id`" + "x" * 150
    shared.net.ask(mac, "--vendor", rude, "--hostname", "a;$(id)")
    unknown(shared, mac)
    (line,) = [one for one in (shared.dhcp / "lease-events").read_text().splitlines() if mac in one]
    assert line.isascii()
    assert line.replace("\t", "").isprintable()
    assert len(line.split("\t")) == 9
    assert not Path("/tmp/owned").exists()


def test_a_proxy_notes_who_asked(net: Namespaces, tmp_path: Path) -> None:
    """It gives no leases: the MAC is all that it knows."""
    with daemon(net, config(tmp_path, "proxy")) as running:
        assert net.ask("02:00:00:00:00:05", *PXE, "--offers-only")["offers"]
        (host,) = until(lambda: running.ask("/v1/discoveries")["hosts"])
        assert (host["mac"], host["address"], host["how"]) == ("02:00:00:00:00:05", "", "dhcp")


def test_another_server_on_the_interface_is_named(net: Namespaces, tmp_path: Path) -> None:
    """Two would both answer: dnsmasq itself shares the port without a word (SO_REUSEPORT)."""
    words = ["dnsmasq", "--keep-in-foreground", "--port=0", "--bind-interfaces", "--conf-file=/dev/null", "--user=root"]
    words += [f"--interface={SERVER}", "--dhcp-range=10.77.0.200,10.77.0.210", f"--dhcp-leasefile={tmp_path / 'other'}"]
    words += ["--pid-file"]
    other = subprocess.Popen(net.in_server(*words), stderr=subprocess.DEVNULL)
    try:
        until(lambda: ":67" in net_listeners(net))
        told = refused(net, config(tmp_path))
    finally:
        other.terminate()
        other.wait(timeout=30)
    assert f"dnsmasq (pid {other.pid}) answers DHCP on {SERVER} already" in told
    assert "end it, or set network_boot.dhcp to external" in told
    assert not (tmp_path / "data").exists()


def net_listeners(net: Namespaces) -> str:
    """Sockets of the server's side."""
    return subprocess.run(net.in_server("ss", "-Huln"), capture_output=True, text=True, timeout=30).stdout


def test_everything_that_is_missing_is_told_at_once(net: Namespaces, tmp_path: Path) -> None:
    """By serve --check, by serve, and by doctor; nothing is started."""
    boot = network_boot("full", ipxe={"x86_64": "/usr/lib/ipxe/absent.efi", "arm64": "absent.efi"})
    boot["interfaces"] = ["eno9", SERVER]
    path = write_site(tmp_path, boot, public_url="http://127.0.0.1:8410")
    for words in (("--check",), ()):
        told = refused(net, path, *words)
        assert "network_boot.interfaces[0]: eno9 is no interface here; name some of boot0" in told
        assert "/usr/lib/ipxe/absent.efi is not there; install the Debian package ipxe" in told
        assert "absent.efi is not there; name a file that is" in told
        assert "public_url: nodes would be sent to http://127.0.0.1:8410, which is themselves" in told
    assert not (tmp_path / "data").exists()
    doctor = net.in_server(*FIRSTLIGHT, "doctor", "--config", path)
    done = subprocess.run(doctor, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "eno9 is no interface here" in done.stdout


def test_a_missing_program_is_named_with_its_package(net: Namespaces) -> None:
    code = (
        "import json, provisioner.network_boot.readiness as r;"
        "from provisioner.network_boot.settings import NetworkBoot;"
        "r.PROGRAMS = {**r.PROGRAMS, 'dnsmasq-of-nobody': 'dnsmasq-base'};"
        f"boot = NetworkBoot.model_validate(json.loads({json.dumps(json.dumps(network_boot('full')))}));"
        f"print(*r.lacks(boot, {URL!r}), sep='\\n')"
    )
    done = subprocess.run(net.in_server(sys.executable, "-c", code), capture_output=True, text=True, timeout=60)
    assert "dnsmasq-of-nobody is not installed; install the Debian package dnsmasq-base" in done.stdout, done.stderr
