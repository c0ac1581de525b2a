"""The expected list: what the plan says is in the racks, as YAML or CSV with the same fields."""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from profiles.fields import Profile
from profiles.problems import Problem, refuse, refuse_if_any
from profiles.validation import validate
from profiles.yaml_source import read_yaml
from provisioner.discovery.csv_source import read_csv
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.node import BmcAddress, Domains, ExpectedNode
from provisioner.models.secret import Credentials, Secret

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"


@dataclass(frozen=True, slots=True)
class Expected:
    """One node of the list. `credentials` are those of its label, when the list has them.

    `keep_password`: they stay; somebody else takes care of them.
    """

    node: ExpectedNode
    credentials: Credentials | None
    keep_password: bool = False


def read_expected(path: Path) -> tuple[Expected, ...]:
    """Read the list, in its order; `.csv` is CSV with a header row, everything else YAML.

    Raises ProfileError with everything that is wrong at once: file, line, field, remedy.
    """
    located = read_csv(path, ROOT, _COLUMNS, _NESTED) if path.suffix == ".csv" else read_yaml(path)
    return tuple(_expected(entry) for entry in validate(ExpectedList, located).nodes)


def _address(value: str) -> str:
    try:
        address = ipaddress.ip_address(value.strip())
    except ValueError:
        raise refuse(f"{value!r} is no IP address", "write the address of the BMC, such as 10.0.1.17") from None
    if address.is_unspecified or address.is_multicast:
        raise refuse(f"{value!r} is not the address of one BMC")
    return str(address)


class ExpectedDomains(Profile):
    """What a node shares with others, which go down when it is cut; nodes with the same name share it."""

    tray: Annotated[str, Field(pattern=NAME, description="one standby power")] | None = None
    chassis: Annotated[str, Field(pattern=NAME, description="one box, one set of cords")] | None = None
    power: Annotated[str, Field(pattern=NAME, description="one feed that can be switched")] | None = None


class ExpectedEntry(Profile):
    """One line of the list; an empty CSV cell is a field that is not there.

    In CSV, `domains` is three columns: `domain_tray`, `domain_chassis` and `domain_power`.
    """

    name: Annotated[str, Field(pattern=NAME)]
    rack: Annotated[str, Field(pattern=NAME)]
    position: Annotated[int, Field(ge=0, le=1000)]
    bmc_address: Annotated[str, AfterValidator(_address)]
    bmc_port: Annotated[int, Field(ge=1, le=65535)] = 443
    serial: Annotated[str, Field(min_length=1)] | None = None
    factory_username: Annotated[str, Field(min_length=1)] | None = None
    factory_password: Annotated[SecretStr, Field(min_length=1)] | None = None
    keep_password: Annotated[bool, Field(description="the BMC's password is managed elsewhere and stays")] = False
    domains: ExpectedDomains = Field(default_factory=ExpectedDomains)

    @field_validator("factory_password")
    @classmethod
    def _with_username(cls, password: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if password is not None and info.data.get("factory_username") is None:
            raise refuse("is there without factory_username", "add factory_username, or leave both out")
        return password

    @field_validator("keep_password")
    @classmethod
    def _is_known(cls, kept: bool, info: ValidationInfo) -> bool:  # noqa: FBT001 - a field's value
        if kept and info.data.get("factory_password") is None:
            raise refuse("is there without factory_password", "add the password that stays, or leave this out")
        return kept


class ExpectedList(Profile):
    """The file. Every name, BMC and place may be taken once."""

    nodes: Annotated[tuple[ExpectedEntry, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _each_once(self) -> "ExpectedList":
        refuse_if_any(
            [
                *self._repeated("name", lambda one: one.name.lower()),
                *self._repeated("bmc_address", lambda one: (one.bmc_address, one.bmc_port)),
                *self._repeated("position", lambda one: (one.rack, one.position)),
                *self._repeated("serial", lambda one: (one.serial or "").strip().lower() or None),
            ]
        )
        return self

    def _repeated(self, field: str, key: Callable[[ExpectedEntry], Any]) -> Iterator[Problem]:
        first: dict[Any, ExpectedEntry] = {}
        for index, entry in enumerate(self.nodes):
            value = key(entry)
            if value is None:
                continue
            other = first.setdefault(value, entry)
            if other is not entry:
                shown = f"{entry.rack} {entry.position}" if field == "position" else getattr(entry, field)
                yield Problem((ROOT, index, field), f"{shown} is already taken by {other.name}", "correct one of them")


ROOT = "nodes"
_NESTED = {f"domain_{name}": ("domains", name) for name in ExpectedDomains.model_fields}
_COLUMNS = tuple(name for name in ExpectedEntry.model_fields if name != "domains")


def _expected(entry: ExpectedEntry) -> Expected:
    node = ExpectedNode(
        name=NodeName(entry.name),
        rack=RackName(entry.rack),
        position=entry.position,
        bmc=BmcAddress(entry.bmc_address, entry.bmc_port),
        serial=entry.serial,
        domains=Domains(entry.domains.tray, entry.domains.chassis, entry.domains.power),
    )
    if entry.factory_username is None or entry.factory_password is None:
        return Expected(node, None)
    credentials = Credentials(entry.factory_username, Secret(entry.factory_password.get_secret_value()))
    return Expected(node, credentials, entry.keep_password)
