"""Invented fleets: plausible serial numbers, UUIDs and addresses, the same ones for the same arguments."""

import csv
import random
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from emulator.config import BmcEntry
from emulator.persona.load import load_persona

_LETTERS = "BCDFGHJKLMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to invent: racks of trays, personas in turn within each rack, addresses from `network`.rack.tray."""

    racks: int
    trays: int
    personas: tuple[str, ...]
    network: str = "127.20"
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """The head of fleet.yaml."""

    port: int = 8443
    admin_port: int = 8444
    speed: float = 60.0
    boot_service: str = "http://127.0.0.1:8410"


def invent(plan: Plan) -> list[BmcEntry]:
    """The BMCs of a plan. Raises ConfigError for an unknown persona."""
    chance = random.Random(plan.seed)  # noqa: S311  (reproducible, not secret)
    entries = []
    for rack in range(1, plan.racks + 1):
        for tray in range(1, plan.trays + 1):
            persona = plan.personas[(tray - 1) % len(plan.personas)]
            entries.append(
                BmcEntry(
                    name=f"r{rack:02}-u{tray:02}",
                    rack=f"r{rack:02}",
                    position=tray,
                    address=f"{plan.network}.{rack}.{tray}",
                    persona=persona,
                    serial=_serial(load_persona(persona).serial_pattern, chance),
                    uuid=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
                )
            )
    return entries


def write_fleet(entries: list[BmcEntry], settings: Settings, directory: Path) -> None:
    """Write fleet.yaml, expected.yaml and expected.csv to `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    head = {
        "port": settings.port,
        "admin_port": settings.admin_port,
        "state_dir": "state",
        "speed": settings.speed,
        "boot_service": settings.boot_service,
    }
    bmcs = [_listed(entry) for entry in entries]
    nodes = expected_nodes(entries, settings.port)
    (directory / "fleet.yaml").write_text(_dump({**head, "bmcs": bmcs}), encoding="utf-8")
    (directory / "expected.yaml").write_text(_dump({"nodes": nodes}), encoding="utf-8")
    with (directory / "expected.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(nodes[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(nodes)


def expected_nodes(entries: list[BmcEntry], port: int) -> list[dict[str, Any]]:
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


def _listed(entry: BmcEntry) -> dict[str, Any]:
    document = entry.model_dump(mode="json", exclude_defaults=True)
    return {**document, "faults": list(entry.faults)}


def _serial(pattern: str, chance: random.Random) -> str:
    """`#` is a digit, `?` is a letter, everything else stands for itself."""
    return "".join(
        str(chance.randrange(10)) if mark == "#" else chance.choice(_LETTERS) if mark == "?" else mark
        for mark in pattern
    )


def _dump(document: dict[str, Any]) -> str:
    return str(yaml.safe_dump(document, sort_keys=False, width=200))
