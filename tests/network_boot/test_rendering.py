"""What we write for DHCP and web servers, as text; the files in golden/ are read by people."""

import grp
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from profiles.models import Arch
from provisioner.errors import BadInput
from provisioner.network_boot.dnsmasq import Place, render_dnsmasq
from provisioner.network_boot.nginx import Certificate, Front, render_cache, render_nginx
from provisioner.network_boot.options import DhcpServerKind, render_options
from provisioner.network_boot.settings import NetworkBoot
from provisioner.settings import load_site
from tests.requirements import need

GOLDEN = Path(__file__).parent / "golden"
PLACE = Place("trial", "http://10.77.0.1:8410", Path("/var/lib/firstlight/dhcp"))
FRONT = Front("trial", "http://10.77.0.1", "127.0.0.1", 8410, Path("/var/lib/firstlight"))
RANGES = [
    {"network": "10.77.0.0/24", "first": "10.77.0.50", "last": "10.77.0.99", "router": "10.77.0.1"},
    {"network": "10.78.0.0/16", "first": "10.78.1.1", "last": "10.78.40.250", "lease": "12h"},
]
IPXE = {"x86_64": "/usr/lib/ipxe/ipxe.efi", "arm64": "/srv/ipxe/arm64.efi"}


def boot(**fields: Any) -> NetworkBoot:
    """Of a site."""
    return NetworkBoot.model_validate({"ipxe": IPXE, **fields})


def full() -> str:
    """Two networks, one of them behind a relay."""
    return render_dnsmasq(boot(dhcp="full", interfaces=["eno1", "eno2.100"], ranges=RANGES), PLACE)


def proxy() -> str:
    """Without a program for BIOSes."""
    networks = [IPv4Network("10.77.0.0/24"), IPv4Network("10.79.0.0/22")]
    programs = {"ipxe.efi", "ipxe-arm64.efi"}
    return render_dnsmasq(boot(dhcp="proxy", interfaces=["eno1"]), PLACE, networks=networks, programs=programs)


def https() -> str:
    """With a certificate."""
    pair = Certificate(Path("/etc/ssl/boot.pem"), Path("/etc/ssl/boot.key"))
    return render_nginx(Front("trial", "https://boot.example:8443", "0.0.0.0", 8410, Path("/srv/data")), pair)


RENDERED: dict[str, Callable[[], str]] = {
    "dnsmasq-full.conf": full,
    "dnsmasq-proxy.conf": proxy,
    "kea.json": lambda: render_options(boot(), DhcpServerKind.KEA, PLACE.url),
    "dhcpd.conf": lambda: render_options(boot(), DhcpServerKind.DHCPD, PLACE.url, "10.77.0.9"),
    "dnsmasq-options.conf": lambda: render_options(boot(), DhcpServerKind.DNSMASQ, PLACE.url),
    "nginx.conf": lambda: render_nginx(FRONT),
    "nginx-cache.conf": lambda: render_cache(FRONT, listen="80", cache=Path("/var/cache/firstlight"), cache_gib=50),
}


@pytest.mark.parametrize("name", RENDERED)
def test_the_text_is_the_one_that_was_reviewed(name: str) -> None:
    """`python -m tests.network_boot.write_golden` writes them; the user is that of who runs it."""
    assert anonymous(RENDERED[name]()) == (GOLDEN / name).read_text()


def anonymous(text: str) -> str:
    """Whoever runs the tests."""
    user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
    return text.replace(f"user={user}\n", "user=USER\n").replace(f"group={group}\n", "group=GROUP\n")


@pytest.mark.parametrize("name", ["dnsmasq-full.conf", "dnsmasq-proxy.conf", "dnsmasq-options.conf"])
def test_dnsmasq_takes_it(name: str, tmp_path: Path) -> None:
    program = shutil.which("dnsmasq") or "/usr/sbin/dnsmasq"
    need(Path(program).exists(), "dnsmasq is not installed")
    config = tmp_path / name
    config.write_text(RENDERED[name]().replace("/var/lib/firstlight/dhcp", str(tmp_path)))
    (tmp_path / "tftp").mkdir()
    tested = subprocess.run([program, "--test", f"--conf-file={config}"], capture_output=True, text=True, timeout=30)
    assert tested.returncode == 0, tested.stderr


def test_kea_gets_json() -> None:
    """Checked once by hand with kea-dhcp4 2.2 -t, and dhcpd.conf with dhcpd 4.4.3 -t."""
    told = re.sub(r"^//.*\n", "", RENDERED["kea.json"]())
    classes = json.loads("{" + told + "}")["client-classes"]
    assert [one["name"].removeprefix("firstlight-") for one in classes] == [
        "ipxe", "http-x86-64", "http-arm64", "pxe-x86-64", "pxe-arm64", "pxe-bios",
    ]  # fmt: skip
    assert all(len(one["boot-file-name"]) < 128 for one in classes)


def test_a_service_that_listens_everywhere_is_reached_over_loopback() -> None:
    told = https()
    assert "server 127.0.0.1:8410;" in told
    assert "listen 8443 ssl;" in told
    assert "ssl_certificate /etc/ssl/boot.pem;" in told


@pytest.mark.parametrize(
    ("render", "said"),
    [
        (lambda: render_dnsmasq(boot(), PLACE), "network_boot.dhcp is external"),
        (
            lambda: render_dnsmasq(
                boot(dhcp="full", interfaces=["eno1"], ranges=RANGES), Place("t", "http://a b", PLACE.folder)
            ),
            "is no URL of a server",
        ),
        (
            lambda: render_dnsmasq(
                boot(dhcp="full", interfaces=["eno1"], ranges=RANGES), Place("t", f"http://{'x' * 90}", PLACE.folder)
            ),
            "characters too long for DHCP",
        ),
        (
            lambda: render_dnsmasq(
                boot(dhcp="full", interfaces=["eno1"], ranges=RANGES), Place("t", PLACE.url, Path("/srv/my data"))
            ),
            "cannot name this path",
        ),
        (lambda: render_nginx(Front("t", "http://10.0.0.5:8410", "0.0.0.0", 8410, Path("/d"))), "listens itself"),
        (lambda: render_nginx(Front("t", "https://b", "127.0.0.1", 8410, Path("/d"))), "needs --certificate"),
        (lambda: render_nginx(Front("t", "http://b", "127.0.0.1", 8410, Path("/d$x"))), "cannot name this path"),
        (lambda: render_cache(FRONT, listen="80; evil", cache=Path("/c"), cache_gib=1), "--listen: 80; evil"),
    ],
)
def test_what_cannot_be_written_is_refused(render: Any, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        render()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["dhcp: full"], "network_boot.interfaces: is missing: DHCP answers on named interfaces only"),
        (["dhcp: full", "interfaces: [eno1]"], "network_boot.ranges: and dhcp: full belong together"),
        (["interfaces: ['eno1 --conf-script=/x']"], "network_boot.interfaces[0]"),
        (["ranges: [{network: 10.0.0.1/24, first: 10.0.0.5, last: 10.0.0.9}]"], "10.0.0.1/24 has host bits set"),
        (["ranges: [{network: 'fd00::/64', first: 10.0.0.5, last: 10.0.0.9}]"], "is no IPv4 network"),
        (["ranges: [{network: 10.0.0.0/24, first: 10.0.1.5, last: 10.0.0.9}]"], "10.0.1.5 is not in 10.0.0.0/24"),
        (["ranges: [{network: 10.0.0.0/24, first: 10.0.0.9, last: 10.0.0.5}]"], "10.0.0.5 is before 10.0.0.9"),
        (["ranges: [{network: 10.0.0.0/24, first: 10.0.0.0, last: 10.0.0.5}]"], "is no host's address in"),
        (
            ["ranges: [{network: 10.0.0.0/24, first: 10.0.0.1, last: 10.0.0.5, router: 10.0.0.1}]"],
            "10.0.0.1 would be given to a node too",
        ),
        (["ranges: [{network: 10.0.0.0/24, first: 10.0.0.1, last: 10.0.0.5, lease: 30s}]"], "shorter than two minutes"),
        (
            [
                "dhcp: full",
                "interfaces: [eno1]",
                "ranges:",
                "  - {network: 10.0.0.0/24, first: 10.0.0.1, last: 10.0.0.5}",
                "  - {network: 10.0.0.0/24, first: 10.0.0.5, last: 10.0.0.9}",
            ],
            "10.0.0.5 to 10.0.0.9 overlaps 10.0.0.1 to 10.0.0.5",
        ),
        (["mirrors: ['ftp://mirror']"], "network_boot.mirrors[0]"),
    ],
)
def test_a_boot_network_that_cannot_be_is_refused(tmp_path: Path, lines: list[str], said: str) -> None:
    """With file and line."""
    path = tmp_path / "site.yaml"
    path.write_text("name: trial\nnetwork_boot:\n" + "".join(f"  {line}\n" for line in lines))
    with pytest.raises(BadInput) as refused:
        load_site(path)
    assert said in str(refused.value)
    assert f"{path}:" in str(refused.value)


def test_paths_are_taken_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    sign = "{key: keys/db.key, certificate: keys/db.crt}"
    path.write_text(f"name: trial\nnetwork_boot:\n  ipxe: {{x86_64: own/ipxe.efi}}\n  sign: {sign}\n")
    found = load_site(path).network_boot
    assert found.ipxe == {Arch.X86_64: tmp_path / "own" / "ipxe.efi"}
    assert found.sign is not None
    assert found.sign.key == tmp_path / "keys" / "db.key"
    assert found.stub[Arch.X86_64] == Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("options", "--server", "dhcpd"), 'filename "http://10.77.0.1/boot/uefi/x86_64.efi"'),
        (("render-nginx",), "listen 10.77.0.1:80;"),
        (("render-nginx", "--cache", "/var/cache/boot", "--listen", "10.0.0.7:8080"), "proxy_pass http://10.77.0.1;"),
    ],
)
def test_the_command_writes_to_standard_output(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Nothing is changed and nobody is asked."""
    path = tmp_path / "site.yaml"
    path.write_text("name: trial\npublic_url: http://10.77.0.1\n")
    command = [sys.executable, "-m", "provisioner", "boot", words[0], "--config", str(path), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    assert [one.name for one in tmp_path.iterdir()] == ["site.yaml"]
