"""Settings of iPXE: `${net0/mac:hexhyp}` and what a script sets itself. https://ipxe.org/cfg."""

import base64
import binascii
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import IPXE_AGENT
from emulator.netboot.identity import Identity

_INNERMOST = re.compile(r"\$\{([^${}]*)\}")
_EXPANSIONS = 200
_LONGEST_CHARACTERS = 64 * 1024
_INTERFACE = re.compile(r"^(?:net0|netX)(?:\.dhcp)?/")


@dataclass(frozen=True, slots=True)
class _Value:
    raw: bytes
    type: str = "string"


class Settings:
    """The settings of one run of iPXE."""

    def __init__(self, identity: Identity) -> None:
        """What iPXE knows without DHCP."""
        self._fixed = _known(identity)
        self._own: dict[str, bytes] = {}

    def set(self, name: str, text: str) -> None:
        """Set from a script; an empty text clears."""
        name, type_ = _split(name)
        if not text:
            self._own.pop(_plain(name), None)
            return
        if len(text) > _LONGEST_CHARACTERS:
            raise BootError(f"{name} is longer than {_LONGEST_CHARACTERS} characters")
        self._own[_plain(name)] = _parse(text, type_)

    def get(self, reference: str) -> str:
        """The text of `name` or `name:type`; empty for what is not set."""
        name, type_ = _split(reference)
        own = self._own.get(_plain(name))
        value = _Value(own) if own is not None else self._fixed.get(_plain(name))
        return "" if value is None else _format(value.raw, type_ or value.type)

    def expand(self, text: str) -> str:
        """Replace every `${...}`, the innermost first; raises BootError for one that never ends."""
        for _ in range(_EXPANSIONS):
            found = _INNERMOST.search(text)
            if found is None:
                return text
            text = text[: found.start()] + self.get(found.group(1)) + text[found.end() :]
            if len(text) > _LONGEST_CHARACTERS:
                break
        raise BootError("the script expands to more than the emulator takes")


def _known(identity: Identity) -> dict[str, _Value]:
    mac = bytes.fromhex(identity.mac.replace(":", ""))
    ip = bytes(int(part) for part in identity.ip.split("."))
    texts = {
        "serial": identity.serial,
        "manufacturer": identity.manufacturer,
        "product": identity.product,
        "buildarch": identity.arch,
        "platform": identity.platform,
        "version": IPXE_AGENT.removeprefix("iPXE/"),
        "user-class": "iPXE",
        "netX/linktype": "Ethernet",
        "netX/bustype": "PCI",
        "netX/chip": "mlx5",
        "cpuvendor": "GenuineIntel" if identity.arch == "x86_64" else "",
    }
    values = {name: _Value(text.encode()) for name, text in texts.items() if text}
    return {
        **values,
        "mac": _Value(mac, "hex"),
        "uuid": _Value(uuid.UUID(identity.uuid).bytes, "uuid"),
        "ip": _Value(ip, "ipv4"),
        "netmask": _Value(b"\xff\xff\0\0", "ipv4"),
        "gateway": _Value(ip[:2] + b"\0\1", "ipv4"),
        "dhcp-server": _Value(ip[:2] + b"\0\1", "ipv4"),
    }


def _split(reference: str) -> tuple[str, str]:
    name, _, type_ = reference.partition(":")
    return name, type_


def _plain(name: str) -> str:
    """`net0/mac` and `netX/mac` are `mac`; `smbios/serial` is `serial`."""
    short = _INTERFACE.sub("", name)
    short = short.removeprefix("smbios/").removeprefix("builtin/").removeprefix("dhcp/")
    return {"linktype": "netX/linktype", "bustype": "netX/bustype", "chip": "netX/chip"}.get(short, short)


def _hex(separator: str) -> Callable[[bytes], str]:
    return lambda raw: separator.join(f"{byte:02x}" for byte in raw)


def _uuid(raw: bytes) -> str:
    return str(uuid.UUID(bytes=raw)) if len(raw) == 16 else ""


def _guid(raw: bytes) -> str:
    return str(uuid.UUID(bytes_le=raw)) if len(raw) == 16 else ""


def _integer(raw: bytes) -> str:
    return str(int.from_bytes(raw[-4:], "big"))


_FORMATS: Mapping[str, Callable[[bytes], str]] = MappingProxyType(
    {
        "string": lambda raw: raw.decode("utf-8", "replace"),
        "uristring": lambda raw: quote(raw, safe="-_.~"),
        "hex": _hex(":"),
        "hexhyp": _hex("-"),
        "hexraw": _hex(""),
        "base64": lambda raw: base64.b64encode(raw).decode(),
        "uuid": _uuid,
        "guid": _guid,
        "ipv4": lambda raw: ".".join(str(byte) for byte in raw[:4]),
        **dict.fromkeys(("int8", "int16", "int32", "uint8", "uint16", "uint32"), _integer),
    }
)


def _format(raw: bytes, type_: str) -> str:
    if type_ == "uristring" and len(raw) in (4, 6, 16) and not raw.isascii():
        raw = _FORMATS["hexraw"](raw).encode()  # no script asks for a binary one
    try:
        return _FORMATS[type_](raw)
    except KeyError:
        raise BootError(f"the settings of the emulator's iPXE have no type {type_}") from None


def _parse(text: str, type_: str) -> bytes:
    try:
        if type_ in ("hex", "hexhyp", "hexraw"):
            return bytes.fromhex(text.replace(":", "").replace("-", ""))
        if type_.endswith(("int8", "int16", "int32")):
            bits = int(type_.removeprefix("u").removeprefix("int"))
            return int.to_bytes(int(text, 0) & ((1 << bits) - 1), bits // 8, "big")
        if type_ == "base64":
            return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BootError(f"'{text[:60]}' is no value of type {type_}") from error
    return text.encode()
