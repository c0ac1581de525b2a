"""What this machine's network looks like, as iproute2 tells it."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, ip_network
from typing import Any

from provisioner.errors import BadInput

_SOCKET = re.compile(r"(?P<address>\S*?)(%(?P<interface>[^:\s]+))?:67\s")
_OWNER = re.compile(r'\(\("(?P<name>[^"]+)",pid=(?P<pid>\d+)')


@dataclass(frozen=True, slots=True)
class DhcpServer:
    """A process that listens for DHCP requests; `interface` is empty where it takes those of all."""

    interface: str
    process: str


def interfaces() -> dict[str, tuple[IPv4Network, ...]]:
    """Every interface by name, with its IPv4 networks. Raises `BadInput` without iproute2."""
    links: list[dict[str, Any]] = json.loads(_told(["ip", "-json", "address", "show"]))
    return {
        link["ifname"]: tuple(
            IPv4Network(ip_network(f"{one['local']}/{one['prefixlen']}", strict=False))
            for one in link["addr_info"]
            if one["family"] == "inet"
        )
        for link in links
        if "ifname" in link
    }


def networks_of(names: Sequence[str]) -> tuple[IPv4Network, ...]:
    """The networks of these interfaces. Raises `BadInput` for one that has none."""
    here = interfaces()
    for name in names:
        if not here.get(name):
            raise BadInput(
                f"network_boot.interfaces: {name} has no IPv4 address here; give it one in the boot network, or name "
                f"another one of {', '.join(sorted(set(here) - {'lo'}))}"
            )
    return tuple(dict.fromkeys(network for name in names for network in here[name]))


def dhcp_servers() -> tuple[DhcpServer, ...]:
    """Who listens on UDP port 67 here. A server that is bound to one interface is not in the way of another one."""
    found = []
    for line in _told(["ss", "-H", "--udp", "--listening", "--numeric", "--processes", "sport = :67"]).splitlines():
        place, owner = _SOCKET.search(line), _OWNER.search(line)
        if place:
            process = f"{owner['name']} (pid {owner['pid']})" if owner else "another process"
            found.append(DhcpServer(place["interface"] or "", process))
    return tuple(found)


def _told(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True, timeout=20).stdout
    except FileNotFoundError as error:
        raise BadInput(f"{command[0]} is not installed; install the Debian package iproute2") from error
    except subprocess.SubprocessError as error:
        raise BadInput(f"{' '.join(command)} failed: {error}") from error
