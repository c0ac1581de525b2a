"""Invented fleets: plausible serial numbers, UUIDs and addresses, the same ones for the same arguments."""

import csv
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from emulator.config import AgentKind, BmcEntry, FaultRate, FleetConfig
from emulator.errors import ConfigError
from emulator.netbox import write_netbox
from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from emulator.racks import Plan, slots_of

_LETTERS = "BCDFGHJKLMNPQRSTVWXYZ"
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class Settings:
    """The head of fleet.yaml."""

    port: int = 8443
    admin_port: int = 8444
    speed: float = 60.0
    boot_service: str = "http://127.0.0.1:8410"
    state_dir: Path | None = Path("state")
    seed: int = 1
    fault_rates: tuple[FaultRate, ...] = ()
    agent: AgentKind = "process"
    boot_files: Mapping[str, str] = field(default_factory=dict)


def invent(plan: Plan) -> list[BmcEntry]:
    """The BMCs of a plan; no two ports have one MAC address. Raises ConfigError for an unknown persona."""
    chance = random.Random(plan.seed)  # noqa: S311  (reproducible, not secret)
    macs: set[str] = set()
    entries = []
    for slot in slots_of(plan):
        persona = _persona(slot.persona, plan.layout)
        serial = _serial(persona.serial_pattern, chance)
        while True:
            entry = BmcEntry(
                name=slot.name,
                rack=slot.rack,
                position=slot.position,
                power_domain=slot.power_domain,
                nvlink_domain=slot.nvlink_domain,
                address=slot.address,
                persona=slot.persona,
                serial=serial,
                uuid=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            )
            ports = {entry.mac(persona, number) for number in range(-1, len(persona.system.nics))}
            if macs.isdisjoint(ports):
                break
        macs |= ports
        entries.append(entry)
    return entries


def fleet_of(entries: Sequence[BmcEntry], settings: Settings) -> FleetConfig:
    """A fleet that is written nowhere. Raises ConfigError."""
    try:
        return FleetConfig(
            port=settings.port,
            admin_port=settings.admin_port,
            state_dir=settings.state_dir,
            speed=settings.speed,
            boot_service=settings.boot_service,
            seed=settings.seed,
            fault_rates=settings.fault_rates,
            agent=settings.agent,
            boot_files=dict(settings.boot_files),
            bmcs=tuple(entries),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        place = (*problem["loc"], *problem.get("ctx", {}).get("at", ()))
        raise ConfigError(f"{'.'.join(map(str, place))}: {problem['msg']}") from error


def write_fleet(entries: Sequence[BmcEntry], settings: Settings, directory: Path) -> None:
    """Write fleet.yaml, and what the rack plan says as expected.yaml, expected.csv and for NetBox, to `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    head = {
        "port": settings.port,
        "admin_port": settings.admin_port,
        "state_dir": str(settings.state_dir) if settings.state_dir else None,
        "speed": settings.speed,
        "boot_service": settings.boot_service,
        "seed": settings.seed,
        "fault_rates": [rate.model_dump() for rate in settings.fault_rates],
        "agent": settings.agent,
        **({"boot_files": dict(settings.boot_files)} if settings.boot_files else {}),
    }
    nodes = expected_nodes(entries, settings.port)
    _dump(directory / "fleet.yaml", {**head, "bmcs": [_listed(entry) for entry in entries]})
    _dump(directory / "expected.yaml", {"nodes": nodes})
    with (directory / "expected.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(nodes[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(nodes)
    write_netbox(entries, settings.port, directory)


def expected_nodes(entries: Sequence[BmcEntry], port: int) -> list[dict[str, Any]]:
    """What the rack plan and the labels say about these BMCs."""
    return [
        {
            "name": entry.name,
            "rack": entry.rack,
            "position": entry.position,
            "bmc_address": entry.address,
            "bmc_port": port,
            "serial": entry.serial,
            "factory_username": load_persona(entry.persona).accounts.username,
            "factory_password": entry.password(load_persona(entry.persona)),
        }
        for entry in entries
    ]


def _persona(name: str, layout: str) -> Persona:
    try:
        return load_persona(name)
    except ConfigError as error:
        raise ConfigError(f"--layout {layout}: {error}" if layout != "plain" else f"--persona: {error}") from error


def _listed(entry: BmcEntry) -> dict[str, Any]:
    document = entry.model_dump(mode="json", exclude_defaults=True)
    return {**document, "faults": list(entry.faults)}


def _serial(pattern: str, chance: random.Random) -> str:
    """`#` is a digit, `?` is a letter, everything else stands for itself."""
    return "".join(
        str(chance.randrange(10)) if mark == "#" else chance.choice(_LETTERS) if mark == "?" else mark
        for mark in pattern
    )


def _dump(path: Path, document: Mapping[str, Any]) -> None:
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file, Dumper=_DUMPER, sort_keys=False, width=200)
