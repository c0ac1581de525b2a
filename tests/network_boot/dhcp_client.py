"""A DHCP client that asks as firmware does (RFC 2131, 4578; UEFI 2.10, 24.7): `python dhcp_client.py INTERFACE ...`.

Runs inside a network namespace and prints one JSON object; imports nothing of ours, so that any Python runs it.
"""

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

_COOKIE = bytes([99, 130, 83, 99])
_BROADCAST = 0x8000
OFFER, ACK = "02", "05"
_REQUESTED = bytes([1, 3, 6, 15, 43, 54, 60, 66, 67, 97, 128, 129, 130, 131, 132, 133, 134, 135])


@dataclass(frozen=True)
class Asker:
    """Who asks."""

    mac: str
    vendor: str = ""
    user_class: str = ""
    arch: int | None = None
    hostname: str = ""

    def message(self, kind: int, xid: int, extra: bytes = b"", address: str = "0.0.0.0") -> bytes:
        """DISCOVER (1) or REQUEST (3)."""
        mac = bytes.fromhex(self.mac.replace(":", ""))
        head = struct.pack(
            "!BBBBIHH4s4s4s4s", 1, 1, 6, 0, xid, 0, _BROADCAST, socket.inet_aton(address), *[bytes(4)] * 3
        )
        options = option(53, bytes([kind])) + option(55, _REQUESTED) + option(97, b"\0" + mac * 2 + bytes(4)) + extra
        if self.vendor:
            options += option(60, self.vendor.encode("latin-1"))
        if self.user_class:
            options += option(77, self.user_class.encode("latin-1"))
        if self.hostname:
            options += option(12, self.hostname.encode("latin-1"))
        if self.arch is not None:
            options += option(93, struct.pack("!H", self.arch)) + option(94, bytes([1, 3, 16]))
        return head + mac.ljust(16, b"\0") + bytes(192) + _COOKIE + options + b"\xff"


def option(code: int, value: bytes) -> bytes:
    """One option."""
    return bytes([code, len(value)]) + value


def parse(packet: bytes) -> dict[str, Any]:
    """What a server says; options by number, in hexadecimal."""
    options: dict[int, str] = {}
    rest = packet[240:]
    while rest and rest[0] != 255:
        if rest[0] == 0:
            rest = rest[1:]
            continue
        options[rest[0]] = rest[2 : 2 + rest[1]].hex()
        rest = rest[2 + rest[1] :]
    return {
        "xid": struct.unpack("!I", packet[4:8])[0],
        "address": socket.inet_ntoa(packet[16:20]),
        "next_server": socket.inet_ntoa(packet[20:24]),
        "file": packet[108:236].split(b"\0")[0].decode("latin-1"),
        "options": options,
    }


def main() -> None:
    """One client, from DISCOVER to ACK; `--keep` gives the address to the interface."""
    parser = argparse.ArgumentParser()
    parser.add_argument("interface")
    for name in ("mac", "vendor", "user-class", "hostname"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--arch", type=int)
    parser.add_argument("--offers-only", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--boot-server", metavar="IP", help="ask this one at port 4011, as PXE does")
    parser.add_argument("--seconds", type=float, default=4)
    words = parser.parse_args()
    asker = Asker(words.mac, words.vendor, words.user_class, words.arch, words.hostname)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, words.interface.encode())
        wire.bind(("", 68))
        told = _boot_server(wire, asker, words) if words.boot_server else _lease(wire, asker, words)
        sys.stdout.write(json.dumps(told))


def _lease(wire: socket.socket, asker: Asker, words: argparse.Namespace) -> dict[str, Any]:
    xid = int.from_bytes(os.urandom(4), "big")
    offers = _ask(
        wire, asker.message(1, xid), ("255.255.255.255", 67), xid, words.seconds, kind=OFFER, every=words.offers_only
    )
    told: dict[str, Any] = {"offers": offers, "ack": None}
    if not offers or words.offers_only:
        return told
    chosen = offers[0]
    extra = option(50, socket.inet_aton(chosen["address"])) + option(54, bytes.fromhex(chosen["options"][54]))
    acks = _ask(wire, asker.message(3, xid, extra), ("255.255.255.255", 67), xid, words.seconds, kind=ACK, every=False)
    told["ack"] = acks[0] if acks else None
    if words.keep and acks:
        bits = bin(int(acks[0]["options"][1], 16)).count("1")
        address = f"{acks[0]['address']}/{bits}"
        subprocess.run(["ip", "address", "replace", address, "dev", words.interface], check=True)
    return told


def _boot_server(wire: socket.socket, asker: Asker, words: argparse.Namespace) -> dict[str, Any]:
    xid = int.from_bytes(os.urandom(4), "big")
    own = subprocess.run(
        ["ip", "-json", "-4", "address", "show", words.interface], capture_output=True, check=True, text=True
    )
    address = json.loads(own.stdout)[0]["addr_info"][0]["local"]
    message = asker.message(3, xid, address=address)
    acks = _ask(wire, message, (words.boot_server, 4011), xid, words.seconds, kind=ACK, every=False)
    return {"offers": [], "ack": acks[0] if acks else None}


def _ask(
    wire: socket.socket, message: bytes, server: tuple[str, int], xid: int, seconds: float, *, kind: str, every: bool
) -> list[dict[str, Any]]:
    """Send, once more each second; the first answer, or `every` one until the time is over."""
    answers: list[dict[str, Any]] = []
    deadline, again = time.monotonic() + seconds, 0.0
    while (now := time.monotonic()) < deadline and (every or not answers):
        if now >= again and not answers:
            wire.sendto(message, server)
            again = now + 1.5
        wire.settimeout(max(0.01, min(again, deadline) - now) if not answers else deadline - now)
        try:
            said = parse(wire.recv(4096))
        except TimeoutError:
            continue
        if said["xid"] == xid and said["options"].get(53) == kind:
            answers.append(said)
    return answers


if __name__ == "__main__":
    main()
