"""`firstlight bench inventory`: what it costs to read emulated servers, by our sweep and by others."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from provisioner.bench.clients import bare_aiohttp, our_sweep, stock_sushy
from provisioner.bench.prepare import Prepared, prepare_clients
from provisioner.bench.process import Cost, apart, cores, cost_of
from provisioner.bench.targets import Emulated, emulated_targets
from provisioner.errors import BadInput

OURS = "our sweep"
SUSHY = "stock sushy in threads"
BARE = "bare aiohttp, one GET per resource"
BARE_EXPANDED = "bare aiohttp with $expand"
_SUSHY_BMCS = 40


@dataclass(frozen=True, slots=True)
class ClientFigures:
    """One client. Milliseconds are user and system time of its process alone. A sample says nothing about memory."""

    client: str
    bmcs: int
    cpu_ms_per_bmc: float
    seconds: float
    bmcs_per_second: float
    requests_per_bmc: float
    memory_mib_per_1000_bmcs: float | None

    def figures(self) -> dict[str, float | None]:
        """What is below its name."""
        return {name: value for name, value in asdict(self).items() if name != "client"}


@dataclass(frozen=True, slots=True)
class InventoryFigures:
    """One run. `resources`: what each client read of one BMC, by persona."""

    bmcs: int
    resources: dict[str, int]
    clients: tuple[ClientFigures, ...]
    ours_to_bare_expanded: float
    sushy_to_ours: float
    one_core: bool
    """The emulator and the clients had to share one core: times are worth little."""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def notes(self) -> list[str]:
        """What belongs below the table."""
        read = ", ".join(f"{count} of {persona}" for persona, count in self.resources.items())
        return [
            f"Resources that each client read of a BMC, those of our sweep: {read}.",
            "Our sweep proves $expand on the first BMC of each kind: among few BMCs that is most of its cost.",
            f"{OURS} / {BARE_EXPANDED}: {self.ours_to_bare_expanded:.2f} times the CPU (aim: at most 1.5)",
            f"{SUSHY} / {OURS}: {self.sushy_to_ours:.1f} times the CPU (aim: at least 10); a sample of"
            f" {min(self.bmcs, _SUSHY_BMCS)} BMCs, without the CA certificates that it loads for each request",
            *(["The emulator and its clients shared one core: the figures are worth little."] if self.one_core else []),
        ]


def measure(bmcs: int, personas: tuple[str, ...]) -> InventoryFigures:
    """The emulator on one core, one client after another on the other one. Raises `BadInput`."""
    emulator_core, client_core = cores()
    with (
        tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder,
        emulated_targets(Path(folder), bmcs, personas, core=emulator_core) as emulated,
    ):
        prepared = apart(client_core, prepare_clients, emulated)
        measured = [_figures(name, emulated, prepared, core=client_core) for name in _ORDER]
    clients = tuple(min((one for one in measured if one.client == name), key=_cpu) for name in _CLIENTS)
    spent = {one.client: one.cpu_ms_per_bmc for one in clients}
    return InventoryFigures(
        bmcs=bmcs,
        resources={persona: len(known.paths) for persona, known in prepared.resources.items()},
        clients=clients,
        ours_to_bare_expanded=round(spent[OURS] / spent[BARE_EXPANDED], 2),
        sushy_to_ours=round(spent[SUSHY] / spent[OURS], 1),
        one_core=emulator_core == client_core,
    )


def _figures(name: str, emulated: Emulated, prepared: Prepared, *, core: int) -> ClientFigures:
    targets = prepared.targets[:_SUSHY_BMCS] if name == SUSHY else prepared.targets
    bmcs = len(targets)
    before = emulated.requests()
    cost = apart(core, _run, name, prepared, bmcs)
    return ClientFigures(
        client=name,
        bmcs=bmcs,
        cpu_ms_per_bmc=round(1000 * cost.cpu_seconds / bmcs, 2),
        seconds=round(cost.seconds, 1),
        bmcs_per_second=round(bmcs / cost.seconds, 1),
        requests_per_bmc=round((emulated.requests() - before) / bmcs, 1),
        memory_mib_per_1000_bmcs=None if name == SUSHY else round(1000 * cost.memory_mib / bmcs, 1),
    )


def _cpu(figures: ClientFigures) -> float:
    return figures.cpu_ms_per_bmc


def _run(name: str, prepared: Prepared, bmcs: int) -> Cost:
    """In the process of the client. Raises `BadInput` when it has not read what the others read."""
    read, cost = cost_of(_CLIENTS[name], prepared, bmcs)
    wanted = sum(len(prepared.resources[target.persona].paths) for target in prepared.targets[:bmcs])
    if read < wanted:
        raise BadInput(f"{name} read {read} resources instead of {wanted}: there is nothing to compare")
    return cost


def _ours(prepared: Prepared, bmcs: int) -> int:
    """Our sweep defines what is read: an inventory that came is whole."""
    targets = prepared.targets[:bmcs]
    found = our_sweep.sweep_all(targets, prepared.fingerprints)
    whole = [one for one in found if one.firmware and one.processors]
    return sum(len(prepared.resources[target.persona].paths) for target, _ in zip(targets, whole, strict=False))


_CLIENTS: dict[str, Callable[[Prepared, int], int]] = {
    BARE_EXPANDED: lambda prepared, bmcs: bare_aiohttp.read_expanded(prepared.targets[:bmcs], prepared.resources),
    OURS: _ours,
    BARE: lambda prepared, bmcs: bare_aiohttp.read_each(prepared.targets[:bmcs], prepared.resources),
    SUSHY: lambda prepared, bmcs: stock_sushy.read_all(prepared.targets[:bmcs], prepared.resources),
}
_ORDER = (BARE_EXPANDED, OURS, BARE_EXPANDED, OURS, BARE_EXPANDED, OURS, BARE, SUSHY)
"""What is compared closely is measured three times in turn, and the cheapest of them counts: others use the machine."""
