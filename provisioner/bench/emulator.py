"""`firstlight bench emulator`: how many GETs per second the emulator answers on one core."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from provisioner.bench.clients.connection import Load
from provisioner.bench.clients.raw_load import load
from provisioner.bench.prepare import Prepared, prepare_clients
from provisioner.bench.process import apart, cores
from provisioner.bench.targets import Emulated, emulated_targets

_CONNECTIONS_TO_ONE = 32


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """One load. The core that is busy to 100 % bounds it; where none is, something else ran on these cores."""

    bmcs: int
    tls: bool
    connections: int
    gets_per_second: int
    gets_per_second_of_a_core: int
    emulator_cpu_us_per_get: float
    client_cpu_us_per_get: float
    emulator_core_percent: int
    client_core_percent: int

    @property
    def name(self) -> str:
        """As the head of a column."""
        return f"{self.bmcs} BMC{'s' * (self.bmcs > 1)}, {'TLS' if self.tls else 'plain'}"

    def figures(self) -> dict[str, float]:
        """What is below it."""
        return {name: value for name, value in asdict(self).items() if name not in {"bmcs", "tls"}}

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


def measure(bmcs: int, persona: str, seconds: float) -> list[LoadFigures]:
    """One BMC of an emulator with `bmcs`, then all of them; with TLS and without. Raises `BadInput`."""
    return [figures for tls in (True, False) for figures in _measured(bmcs, persona, seconds, tls=tls)]


def _measured(bmcs: int, persona: str, seconds: float, *, tls: bool) -> list[LoadFigures]:
    emulator_core, client_core = cores()
    with (
        tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder,
        emulated_targets(Path(folder), bmcs, (persona,), core=emulator_core, tls=tls) as emulated,
    ):
        prepared = apart(client_core, prepare_clients, emulated)
        return [_figures(emulated, prepared, count, seconds, core=client_core) for count in dict.fromkeys((1, bmcs))]


def _figures(emulated: Emulated, prepared: Prepared, bmcs: int, seconds: float, *, core: int) -> LoadFigures:
    connections = _CONNECTIONS_TO_ONE if bmcs == 1 else 1
    found: Load = apart(
        core,
        load,
        prepared.targets[:bmcs],
        prepared.resources,
        connections=connections,
        seconds=seconds,
        emulator=emulated.pid,
    )
    requests = max(found.requests, 1)
    return LoadFigures(
        bmcs=bmcs,
        tls=prepared.targets[0].tls,
        connections=found.connections,
        gets_per_second=round(found.requests / found.seconds),
        gets_per_second_of_a_core=round(requests / max(found.server_cpu_seconds, 0.01)),
        emulator_cpu_us_per_get=round(1e6 * found.server_cpu_seconds / requests, 1),
        client_cpu_us_per_get=round(1e6 * found.client_cpu_seconds / requests, 1),
        emulator_core_percent=round(100 * found.server_cpu_seconds / found.seconds),
        client_core_percent=round(100 * found.client_cpu_seconds / found.seconds),
    )
