"""The fleet file: which BMCs this process is."""

import difflib
import hashlib
import ipaddress
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from emulator.errors import ConfigError
from emulator.faults.catalog import BY_NAME, read_fault
from emulator.faults.inventory import FLEET_FAULTS
from emulator.faults.parts import check_part
from emulator.kind import load_kind
from emulator.netboot.dhcp import check_boot_files
from emulator.persona.persona import Persona
from emulator.strict_yaml import load_yaml, place_in

AgentKind = Literal["process", "stand-in"]
FaultSetting = str | Mapping[str, Mapping[str, Any] | None]

_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


class BmcEntry(BaseModel):
    """One emulated server: where its BMC answers, which persona it has and what is printed on its label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    rack: str = ""
    position: int = 0
    power_domain: str = ""  # the pair of feeds behind it, <name>-a and <name>-b
    nvlink_domain: str = ""  # "": the node is a domain by itself
    address: str
    persona: str
    serial: str = Field(min_length=1)
    uuid: str = Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
    factory_password: str | None = None  # None: what the persona and the serial say
    power: str = Field(default="Off", pattern="^(On|Off)$")  # when it is first plugged in
    installed: str = ""  # the operating system that is on its disk when it is first plugged in
    faults: tuple[FaultSetting, ...] = ()
    meant_for: str = ""  # the slot that the plan has for this machine, when it is not in it

    @field_validator("address")
    @classmethod
    def _loopback_only(cls, address: str) -> str:
        if ipaddress.ip_address(address) not in _LOOPBACK:
            raise ValueError(f"{address} is not in 127.0.0.0/8")
        return address

    @field_validator("faults")
    @classmethod
    def _known_faults(cls, faults: tuple[FaultSetting, ...]) -> tuple[FaultSetting, ...]:
        for index, setting in enumerate(faults):
            try:
                read_fault(setting)
            except ValueError as error:
                raise _wrong(str(error), index) from error
        return faults

    def password(self, persona: Persona) -> str:
        """The factory password as printed on the label."""
        return self.factory_password or persona.accounts.factory_password or label_password(self.serial)

    def mac(self, persona: Persona, number: int) -> str:
        """The MAC address of the port `number` of the host; the BMC has number -1."""
        digest = hashlib.sha256(f"{self.uuid.lower()} {number}".encode()).digest()
        return ":".join([persona.mac_prefix, *(f"{byte:02X}" for byte in digest[:3])])


class FaultRate(BaseModel):
    """A fault that a share of the fleet has; which BMCs, `seed` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: str
    share: float = Field(ge=0, le=1)
    arguments: dict[str, Any] = Field(default_factory=dict)

    @field_validator("fault")
    @classmethod
    def _known(cls, fault: str) -> str:
        known = [*BY_NAME, *(one.name for one in FLEET_FAULTS)]
        if fault not in known:
            near = difflib.get_close_matches(fault, known, n=1)
            advice = f"did you mean '{near[0]}'?" if near else "`firstlight-emulator faults` lists them"
            raise ValueError(f"unknown fault '{fault}'; {advice}")
        return fault

    @model_validator(mode="after")
    def _known_arguments(self) -> "FaultRate":
        if self.fault in BY_NAME:
            try:
                read_fault({self.fault: self.arguments})
            except ValueError as error:
                raise _wrong(str(error), "arguments") from error
        elif self.arguments:
            raise _wrong(f"{self.fault} takes no arguments", "arguments")
        return self


class FleetConfig(BaseModel):
    """fleet.yaml; see README.md."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    port: int = Field(default=8443, ge=1, le=65535, strict=True)
    admin_port: int = Field(default=8444, ge=1, le=65535, strict=True)
    tls: bool = True  # false: the BMCs speak plain HTTP, as benches want it
    state_dir: Path | None = None  # None: nothing is kept when the process ends
    speed: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    boot_service: str = Field(default="http://127.0.0.1:8410", pattern=r"^https?://[^\s/]+")
    boot_files: dict[str, str] = Field(default_factory=dict)  # what DHCP would say, see netboot/dhcp.py
    agent: AgentKind = "process"  # what runs on a host that has booted
    seed: int = 1  # which BMCs have the faults of `fault_rates`
    fault_rates: tuple[FaultRate, ...] = ()
    bmcs: tuple[BmcEntry, ...] = Field(min_length=1)

    @field_validator("boot_files")
    @classmethod
    def _known_clients(cls, boot_files: dict[str, str]) -> dict[str, str]:
        check_boot_files(boot_files)
        return boot_files

    @model_validator(mode="after")
    def _each_once(self) -> "FleetConfig":
        for field in ("name", "address"):
            index = _repeated(getattr(bmc, field) for bmc in self.bmcs)
            if index is not None:
                value = getattr(self.bmcs[index], field)
                raise _wrong(f"{field} {value} is used by two BMCs", "bmcs", index, field)
        if self.port == self.admin_port:
            raise _wrong(f"{self.port} is the port of the BMCs already", "admin_port")
        return self


def load_fleet(path: Path) -> FleetConfig:
    """Read a fleet file and check its personas; `state_dir` comes back absolute. Raises ConfigError."""
    fleet = load_yaml(path, FleetConfig)
    for index, bmc in enumerate(fleet.bmcs):
        try:
            persona = load_kind(bmc.persona).persona
        except ConfigError as error:
            raise ConfigError(f"{place_in(path, ('bmcs', index, 'persona'))}: {error}") from error
        for number, setting in enumerate(bmc.faults):
            try:
                check_part(persona, *read_fault(setting))
            except ValueError as error:
                raise ConfigError(f"{place_in(path, ('bmcs', index, 'faults', number))}: {error}") from error
    if fleet.state_dir is None:
        return fleet
    return fleet.model_copy(update={"state_dir": (path.parent / fleet.state_dir).resolve()})


def _repeated(values: Iterable[str]) -> int | None:
    """The index of the first value that was there before."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            return index
        seen.add(value)
    return None


def _wrong(reason: str, *at: str | int) -> PydanticCustomError:
    """What is wrong at a deeper place than the validator's own."""
    return PydanticCustomError("wrong", "{reason}", {"reason": reason, "at": at})


def label_password(serial: str) -> str:
    """The password on the pull-out tag: ten capital letters that belong to the serial number."""
    digest = hashlib.sha256(b"label " + serial.encode()).digest()
    return "".join("ABCDEFGHJKLMNPQRSTUVWXYZ"[byte % 24] for byte in digest[:10])
