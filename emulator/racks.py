"""Invented racks: which persona is in which slot, what it shares power and NVLink with, and where its BMC answers."""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass

from emulator.errors import ConfigError

NVL72 = (*("gb200-compute-tray",) * 8, *("nvlink-switch-tray",) * 9, *("gb200-compute-tray",) * 10)
"""From the lowest slot up: NVIDIA's rack has ten compute trays above nine switch trays and eight below them."""

LAYOUTS = ("plain", "nvl72")
_LAST_ADDRESS = int(ipaddress.ip_address("127.255.255.254"))
_MOST_TRAYS = 254


@dataclass(frozen=True, slots=True)
class Plan:
    """What to invent: racks of trays, personas in turn within each rack.

    Rack r, tray t answers at `network`.0.0 + 256 r + t: 127.20.1.1 first, 127.21.0.1 in rack 256. The layout nvl72 says
    itself which trays there are.
    """

    racks: int
    trays: int
    personas: tuple[str, ...]
    network: str = "127.20"
    seed: int = 1
    layout: str = "plain"


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of a rack."""

    name: str
    rack: str
    position: int
    persona: str
    address: str
    power_domain: str
    nvlink_domain: str


def slots_of(plan: Plan) -> Iterator[Slot]:
    """The slots of a plan, rack by rack from the lowest one up. Raises ConfigError when they have no addresses."""
    first = _first_address(plan.network)
    trays = _trays(plan)
    last_rack = (_LAST_ADDRESS - len(trays) - first) // 256
    if plan.racks > last_rack:
        raise ConfigError(
            f"--racks {plan.racks}: only {last_rack} racks from --network {plan.network} on fit into 127.0.0.0/8; "
            "take a lower network, 127.1 is the lowest, or fewer racks with more trays"
        )
    digits = max(2, len(str(plan.racks)))
    for number in range(1, plan.racks + 1):
        rack = f"r{number:0{digits}}"
        for position, persona in enumerate(trays, 1):
            yield Slot(
                name=f"{rack}-u{position:02}",
                rack=rack,
                position=position,
                persona=persona,
                address=str(ipaddress.ip_address(first + 256 * number + position)),
                power_domain=rack,
                nvlink_domain=rack if plan.layout == "nvl72" else "",
            )


def _first_address(network: str) -> int:
    found = re.fullmatch(r"127\.(\d{1,3})", network)
    if not found or not 1 <= int(found[1]) <= 255:
        raise ConfigError(f"--network {network}: give the first two numbers of the addresses, 127.1 to 127.255")
    return int(ipaddress.ip_address(f"127.{int(found[1])}.0.0"))


def _trays(plan: Plan) -> tuple[str, ...]:
    if plan.layout not in LAYOUTS:
        raise ConfigError(f"--layout {plan.layout}: known layouts: {', '.join(LAYOUTS)}")
    if plan.layout == "nvl72":
        return NVL72
    if plan.trays > _MOST_TRAYS:
        raise ConfigError(f"--trays {plan.trays}: a rack has room for {_MOST_TRAYS} at most; take more racks")
    return tuple(plan.personas[index % len(plan.personas)] for index in range(plan.trays))
