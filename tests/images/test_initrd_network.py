"""The initrd finds the card through which the service answers, with real DHCP between real network namespaces."""

import os
import shutil
from pathlib import Path

import pytest

from tests.images.initrd_shell import POWERED_OFF, SHELLS, InitrdShell
from tests.requirements import need

IPCONFIG = Path("/usr/lib/klibc/bin/ipconfig")
WORDS = "firstlight.server=http://10.99.0.1:8410 firstlight.mirror=http://10.99.0.1:9"
NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
HALL = """
set -e
inner=$PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t tmpfs tmpfs /run
mount -t sysfs sysfs /sys
ip link set lo up
for hall in wrong right; do
    ip netns add $hall
    ip -n $hall link set lo up
done
ip link add eth0 type veth peer name port netns wrong
ip link add eth1 type veth peer name unplugged netns wrong
ip link add eth2 type veth peer name port netns right
ip -n wrong link set port up
ip -n wrong address add 10.98.0.1/24 dev port
ip netns exec wrong sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' # it says that it knows no way
ip -n right link set port up
ip -n right address add 10.99.0.1/24 dev port
dhcp() { # hall, network; it goes into the background once it answers
    ip netns exec $1 dnsmasq --conf-file=/dev/null --user=root --port=0 --interface=port --bind-interfaces --no-ping \
        --pid-file=/run/$1.pid --dhcp-leasefile=/run/$1.leases --dhcp-range=$2.50,$2.59,2m \
        --dhcp-option=option:domain-name,hall.example --dhcp-option=option:dns-server,$2.1
}
ip netns exec right python3 -m http.server --bind 10.99.0.1 --directory /run 8410 >/dev/null 2>&1 &
dhcp wrong 10.98.0
(until [ -s /run/wrong.leases ]; do sleep 0.2; done; sleep $LATE; dhcp right 10.99.0) >/dev/null 2>&1 &
PATH=$inner
exec "$@"
"""


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> InitrdShell:
    need(os.geteuid() == 0, "needs root: it makes network namespaces")
    needed = ("dnsmasq", "ip", "unshare")
    need(
        all(map(shutil.which, needed)) and IPCONFIG.exists(), "needs dnsmasq-base, iproute2, klibc-utils and util-linux"
    )
    shell = InitrdShell(tmp_path, request.param)
    (shell.commands / "ipconfig").symlink_to(IPCONFIG)
    return shell


def in_the_hall(late_seconds: int) -> tuple[str, ...]:
    script = HALL.replace("$LATE", str(late_seconds))
    return (*NAMESPACES, "/bin/bash", "-c", script, "hall")


@pytest.mark.slow
def test_the_card_that_leads_to_the_service_is_found_among_others(shell: InitrdShell) -> None:
    """eth0 gets an address that leads nowhere, eth1 has no link, and eth2's DHCP answers only after some seconds."""
    state = shell.folder / "state"
    script = f"""
        fl_net=/sys/class/net fl_leases=/run
        fl_find_network
        fl_leave_network
        ip -4 addr >{state}
        cat $fl_net/eth2/address >>{state}
        """
    ran = shell.run(script, WORDS, in_the_hall(4))
    assert ran.code == 0, ran
    assert "firstlight: network: eth2, address 10.99.0.5" in ran.console
    assert "address 10.98.0.5" in ran.console
    assert "eth1" in ran.console
    addresses = state.read_text()
    assert "inet 10.99.0.5" in addresses
    assert "inet 10.98.0." not in addresses
    assert (shell.folder / "resolv.conf").read_text() == "search hall.example\nnameserver 10.99.0.1\n"
    (unit,) = (shell.folder / "networkd").iterdir()
    assert f"\nMACAddress={addresses.splitlines()[-1]}\n" in unit.read_text()
    assert "\nKeepConfiguration=yes\n" in unit.read_text()


@pytest.mark.slow
def test_a_server_without_a_way_to_the_service_says_what_each_card_sees(shell: InitrdShell) -> None:
    script = "fl_net=/sys/class/net fl_leases=/run fl_card_rounds=6; fl_find_network"
    ran = shell.run(script, WORDS, in_the_hall(600))
    assert ran.code == POWERED_OFF
    said = next(line for line in ran.console.splitlines() if "what:" in line)
    assert said.startswith("firstlight: what:   no way to http://10.99.0.1:8410: eth0 (")
    states = [part.partition("): ")[2] for part in said.split("; ")]
    assert states[0].startswith("address 10.98.0.5")
    assert states[0].endswith(", but no server answers")
    assert states[1:] == ["no link", "link, but no answer by DHCP"]
    assert "check the cable and the switch port" in ran.console


def test_the_card_that_the_boot_program_names_is_tried_before_the_others(shell: InitrdShell) -> None:
    """BOOTIF, as pxelinux and iPXE write it."""
    for number in range(3):
        shell.write(f"net/eth{number}/address", f"52:54:00:00:00:0{number}\n")
        shell.write(f"net/eth{number}/type", "1\n")
    shell.write("net/ib0/type", "32\n")
    shell.write("leases/net-eth2.conf", "")
    ran = shell.run('BOOTIF=01-52-54-00-00-00-01; fl_say "$(fl_list_cards | xargs)"')
    assert ran.console == "firstlight: eth2 eth1 eth0\n"


def test_a_fixed_address_that_cannot_be_set_does_not_end_process_1(shell: InitrdShell) -> None:
    """initramfs-tools 0.142 (Debian 12): configure_networking sources an absent lease, which ends the shell."""
    shell.write("net/eth0/type", "1\n")
    shell.write("net/eth0/carrier", "1\n")
    script = """
        ip() { :; }
        configure_networking() { . /absent/net-eth0.conf; }
        IP=10.0.0.5::10.0.0.1:255.0.0.0 fl_card_rounds=1
        fl_find_network
        """
    ran = shell.run(script, WORDS)
    assert ran.code == POWERED_OFF
    assert "link, but no answer by DHCP" in ran.console


@pytest.mark.parametrize("value", ["`reboot`", "10.0.0.1'; reboot; '", "$(reboot)", "0.0.0.0"])
def test_what_a_dhcp_server_says_is_never_run(shell: InitrdShell, value: str) -> None:
    shell.write("lease", f"IPV4DNS0='{value}'\nDNSDOMAIN='{value}'\nIPV4DNS1='10.1.1.1'\n")
    shell.run(f"fl_name_servers {shell.folder}/lease")
    resolv = (shell.folder / "resolv.conf").read_text().splitlines()
    assert resolv[-1] == "nameserver 10.1.1.1"
    assert not [line for line in resolv if "reboot" in line or line == "nameserver 0.0.0.0"]
