"""Before any figure: first contact with every BMC, and what an inventory reads of each kind of server."""

from dataclasses import dataclass

from provisioner.bench.clients.bare_aiohttp import documents_of
from provisioner.bench.clients.our_sweep import first_contact, sweep_all
from provisioner.bench.resources import Resources, resources_in
from provisioner.bench.targets import Emulated, Target


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the clients are given. `fingerprints`: BMC -> pinned certificate; `resources`: persona -> what to read."""

    targets: tuple[Target, ...]
    fingerprints: dict[str, str]
    resources: dict[str, Resources]


def prepare_clients(emulated: Emulated) -> Prepared:
    """Meet all BMCs; the emulator tells what our own sweep asks of the first one of each persona. Raises `BadInput`."""
    targets, fingerprints = first_contact(emulated.targets)
    resources: dict[str, Resources] = {}
    for target in targets:
        if target.persona not in resources:
            resources[target.persona] = _swept(emulated, target, fingerprints)
    return Prepared(targets, fingerprints, resources)


def _swept(emulated: Emulated, target: Target, fingerprints: dict[str, str]) -> Resources:
    before = emulated.asked(target.name)
    sweep_all([target], fingerprints)
    after = emulated.asked(target.name)
    asked = [request.partition(" ") for request, count in after.items() if count > before.get(request, 0)]
    return resources_in(documents_of(target, [path for method, _, path in asked if method == "GET"]))
