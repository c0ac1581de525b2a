"""The fleet file: which BMCs this process is."""

import hashlib
import ipaddress
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from emulator.errors import ConfigError
from emulator.faults.catalog import read_fault
from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from emulator.strict_yaml import load_yaml

FaultSetting = str | Mapping[str, Mapping[str, Any] | None]


class BmcEntry(BaseModel):
    """One emulated server: where its BMC answers, which persona it has and what is printed on its label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    rack: str = ""
    position: int = 0
    address: str
    persona: str
    serial: str = Field(min_length=1)
    uuid: str = Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
    factory_password: str | None = None  # None: what the persona and the serial say
    power: str = Field(default="Off", pattern="^(On|Off)$")  # when it is first plugged in
    faults: tuple[FaultSetting, ...] = ()

    @field_validator("address")
    @classmethod
    def _loopback_only(cls, address: str) -> str:
        if ipaddress.ip_address(address) not in ipaddress.ip_network("127.0.0.0/8"):
            raise ValueError(f"{address} is not in 127.0.0.0/8")
        return address

    @field_validator("faults")
    @classmethod
    def _known_faults(cls, faults: tuple[FaultSetting, ...]) -> tuple[FaultSetting, ...]:
        for setting in faults:
            read_fault(setting)
        return faults

    def password(self, persona: Persona) -> str:
        """The factory password as printed on the label."""
        return self.factory_password or persona.accounts.factory_password or label_password(self.serial)


class FleetConfig(BaseModel):
    """fleet.yaml; see README.md."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    port: int = Field(default=8443, ge=1, le=65535)
    admin_port: int = Field(default=8444, ge=1, le=65535)
    state_dir: Path = Path("state")
    speed: float = Field(default=1.0, ge=0)
    boot_service: str = "http://127.0.0.1:8410"
    bmcs: tuple[BmcEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> "FleetConfig":
        for field in ("name", "address"):
            repeated = [value for value, n in Counter(getattr(bmc, field) for bmc in self.bmcs).items() if n > 1]
            if repeated:
                raise ValueError(f"{field} {repeated[0]} is used by two BMCs")
        return self


def load_fleet(path: Path) -> FleetConfig:
    """Read a fleet file and check its personas; `state_dir` comes back absolute. Raises ConfigError."""
    fleet = load_yaml(path, FleetConfig)
    for index, bmc in enumerate(fleet.bmcs):
        try:
            load_persona(bmc.persona)
        except ConfigError as error:
            raise ConfigError(f"{path}: bmcs.{index} ({bmc.name}): {error}") from error
    return fleet.model_copy(update={"state_dir": (path.parent / fleet.state_dir).resolve()})


def label_password(serial: str) -> str:
    """The password on the pull-out tag: ten capital letters that belong to the serial number."""
    digest = hashlib.sha256(b"label " + serial.encode()).digest()
    return "".join("ABCDEFGHJKLMNPQRSTUVWXYZ"[byte % 24] for byte in digest[:10])
