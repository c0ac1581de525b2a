"""Small models with the fields that a test is about."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from profiles.firmware.bundle import FirmwareBundle
from profiles.models import BiosProfile, BurnInPlan
from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Node
from provisioner.models.secret import Secret

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
N1 = NodeName("r01-u01")


def node(state: State = State.DISCOVERED, **fields: Any) -> Node:
    """One that came into `state` now."""
    return Node(N1, RackName("r01"), 1, BmcAddress("10.0.0.1"), state, NOW, **fields)


def hold(**fields: Any) -> Hold:
    """For some reason."""
    return Hold("broken", Instruction(Owner.TECHNICIAN, "there", "mend it", "it is mended"), NOW, **fields)


def ticket(**fields: Any) -> BootTicket:
    """An unused one."""
    unused: dict[str, Any] = dict.fromkeys(["boot_id", "registered_at", "booted_image", "booted_root"])
    made: dict[str, Any] = {"key": Secret("key"), "token": Secret("token"), "image": "sha256:i", "root": "sha256:r"}
    return BootTicket(N1, 1, 1, **{**made, "served": 0, **unused, **fields})


def part(identifier: str, version: str | None, *, updateable: bool = True) -> FirmwareComponent:
    """One entry of a firmware inventory."""
    return FirmwareComponent(identifier, f"/inventory/{identifier}", identifier, version, updateable)


def bundle(**components: tuple[str, str, str]) -> FirmwareBundle:
    """Component class = (glob over ids, wanted version, activation), in the order of the arguments."""
    return FirmwareBundle.model_validate(
        {
            "name": "bundle",
            "description": "for tests",
            "hardware_class": "server",
            "components": [
                {
                    "component": name,
                    "inventory": (glob,),
                    "version": version,
                    "artefact": {"file": f"{name}.fw", "sha256": "0" * 64, "size_bytes": 1},
                    "activation": activation,
                    "expected_minutes": 5,
                }
                for name, (glob, version, activation) in components.items()
            ],
        }
    )


def catalogued(*components: dict[str, Any], policy: dict[str, str] | None = None) -> FirmwareBundle:
    """A bundle with releases in rank order: `3!` cannot be taken back, `3<2` needs 2 first.

    Each component: name, glob, version, releases, activation; more keys are fields of the component. The file of a
    release is named after its component, or `file`.
    """
    return FirmwareBundle.model_validate(
        {
            "name": "bundle",
            "description": "for tests",
            "hardware_class": "server",
            "policy": policy or {"newer": "refuse", "unknown": "flash"},
            "components": [_catalogued(dict(component)) for component in components],
        }
    )


def _catalogued(fields: dict[str, Any]) -> dict[str, Any]:
    name, glob = fields.pop("name"), fields.pop("glob")
    file = fields.pop("file", name)
    releases = [_release(file, text) for text in fields.pop("releases")]
    artefact = next(one["artefact"] for one in releases if one["version"] == fields["version"])
    made = {"component": name, "inventory": (glob,), "expected_minutes": 5, "artefact": artefact, "releases": releases}
    return made | fields


def _release(file: str, text: str) -> dict[str, Any]:
    version, _, stone = text.removesuffix("!").partition("<")
    sha256 = hashlib.sha256(f"{file} {version}".encode()).hexdigest()
    return {
        "version": version,
        "artefact": {"file": f"{file}-{version}.fw", "sha256": sha256, "size_bytes": 1},
        "requires": stone or None,
        "irreversible": text.endswith("!"),
    }


def bios(attributes: dict[str, str | int | bool], optional: tuple[str, ...] = ()) -> BiosProfile:
    """A profile with these attributes."""
    return BiosProfile.model_validate(
        {
            "name": "profile",
            "description": "for tests",
            "hardware_class": "server",
            "attributes": attributes,
            "optional": optional,
        }
    )


def burn_in() -> BurnInPlan:
    """Two checks with limits both ways."""
    return BurnInPlan.model_validate(
        {
            "name": "plan",
            "description": "for tests",
            "heartbeat": "10s",
            "items": [
                {
                    "id": "cpu",
                    "kind": "cpu",
                    "parameters": {"seconds": 60},
                    "deadline": "5m",
                    "floors": {"threads": 32},
                    "ceilings": {"mismatches": 0},
                },
                {
                    "id": "memory",
                    "kind": "memory",
                    "parameters": {"mebibytes": 64, "passes": 1},
                    "deadline": "5m",
                    "floors": {"mebibytes_per_second": 200},
                    "ceilings": {"mismatches": 0},
                },
            ],
        }
    )
