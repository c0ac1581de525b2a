"""`firstlight bench boot`: boot decisions per second of the service on one core, and what its big files leave with."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from provisioner.bench.boot_site import BootSite, filled_site
from provisioner.bench.clients.boot_load import KINDS, boot_load
from provisioner.bench.process import apart, cores

_CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class DecisionFigures:
    """One kind of question. The core that is busy to 100 % bounds it; where none is, something else ran there."""

    kind: str
    nodes: int
    connections: int
    decisions_per_second: int
    decisions_per_second_of_a_core: int
    service_cpu_us_per_decision: float
    service_core_percent: int
    client_core_percent: int

    def figures(self) -> dict[str, float]:
        """What stands below its name."""
        return {name: value for name, value in asdict(self).items() if name != "kind"}

    def as_dict(self) -> dict[str, float | str]:
        """For JSON."""
        return asdict(self)


def measure_decisions(nodes: int, seconds: float) -> list[DecisionFigures]:
    """Ask a site on SQLite whose nodes all wait for their boot. Raises `BadInput`."""
    service_core, client_core = cores()
    with (
        tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder,
        filled_site(Path(folder), nodes, core=service_core) as site,
    ):
        return [_asked(site, kind.name, seconds, core=client_core) for kind in KINDS]


def _asked(site: BootSite, kind: str, seconds: float, *, core: int) -> DecisionFigures:
    connections = min(_CONNECTIONS, len(site.waiting))
    found = apart(core, boot_load, site, kind, connections=connections, seconds=seconds)
    answered = max(found.requests, 1)
    return DecisionFigures(
        kind=kind,
        nodes=len(site.waiting),
        connections=found.connections,
        decisions_per_second=round(found.requests / found.seconds),
        decisions_per_second_of_a_core=round(answered / max(found.server_cpu_seconds, 0.01)),
        service_cpu_us_per_decision=round(1e6 * found.server_cpu_seconds / answered, 1),
        service_core_percent=round(100 * found.server_cpu_seconds / found.seconds),
        client_core_percent=round(100 * found.client_cpu_seconds / found.seconds),
    )
