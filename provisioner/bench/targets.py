"""The emulated BMCs that a bench reads, and the process that is them."""

import csv
import importlib.util
import json
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provisioner.bench.process import on_core
from provisioner.demo.rack import DemoPlan, emulated, prepare
from provisioner.errors import BadInput
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret

_TRAYS = 8
_ADMIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """One BMC."""

    name: str
    persona: str
    address: BmcAddress
    credentials: Credentials
    tls: bool

    @property
    def url(self) -> str:
        """Scheme, address and port."""
        return f"{'https' if self.tls else 'http'}://{self.address}"


@dataclass(frozen=True, slots=True)
class Emulated:
    """A running emulator. `pid`: its process; `admin_url`: where it tells what it was asked."""

    pid: int
    admin_url: str
    targets: tuple[Target, ...]

    def requests(self) -> int:
        """How many requests it has answered since it started."""
        return int(self._ask("/fleet")["requests"])

    def asked(self, name: str) -> Mapping[str, int]:
        """What one BMC was asked so far: method and path -> how often."""
        return dict(self._ask(f"/bmcs/{name}")["requests"])

    def _ask(self, path: str) -> Any:
        with urllib.request.urlopen(self.admin_url + path, timeout=_ADMIN_SECONDS) as answer:  # noqa: S310  (loopback)
            return json.load(answer)


@contextmanager
def emulated_targets(
    folder: Path, bmcs: int, personas: tuple[str, ...], *, core: int, tls: bool = True
) -> Iterator[Emulated]:
    """An emulator of `bmcs` servers on `core`, until the end of the block; durations are zero. Raises `BadInput`."""
    if importlib.util.find_spec("emulator") is None or importlib.util.find_spec("sushy_tools") is None:
        raise BadInput("this bench needs firstlight-emulator: install firstlight[emulator]")
    plan = DemoPlan(folder, racks=-(-bmcs // _TRAYS), trays=min(bmcs, _TRAYS), speed=0, personas=personas)
    prepare(plan)
    path = folder / "fleet" / "fleet.yaml"
    if not tls:
        path.write_text("tls: false\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    fleet = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    targets = _targets(folder / "fleet" / "expected.csv", fleet, tls=tls)[:bmcs]
    with ExitStack() as stack:
        with on_core(core):
            process = stack.enter_context(emulated(plan))
        yield Emulated(process.pid, f"http://127.0.0.1:{fleet['admin_port']}", targets)


def _targets(expected: Path, fleet: dict[str, Any], *, tls: bool) -> tuple[Target, ...]:
    personas = {bmc["name"]: str(bmc["persona"]) for bmc in fleet["bmcs"]}
    with expected.open(encoding="utf-8", newline="") as file:
        return tuple(
            Target(
                name=row["name"],
                persona=personas[row["name"]],
                address=BmcAddress(row["bmc_address"], int(row["bmc_port"])),
                credentials=Credentials(row["factory_username"], Secret(row["factory_password"])),
                tls=tls,
            )
            for row in csv.DictReader(file)
        )
