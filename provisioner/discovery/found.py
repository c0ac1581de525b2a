"""What it means that a BMC answers at an address, or that none does; pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from provisioner.models.found_bmc import FoundBmc, Scan, Sighting
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.node import BmcAddress

LONGEST_TEXT = 200
_NO_UUIDS = frozenset({"", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"})
"""What boards say that were never given one."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A node, as far as it matters here. `uuid`: what it has said itself, None before."""

    name: NodeName
    rack: RackName
    position: int
    bmc: BmcAddress
    uuid: str | None = None

    @property
    def place(self) -> str:
        """Where a person finds it."""
        return f"rack {self.rack}, position {self.position} ({self.name})"


@dataclass(frozen=True, slots=True)
class ExpectedBmc:
    """A BMC that answers where the plan has a node."""

    bmc: FoundBmc
    node: Planned


@dataclass(frozen=True, slots=True)
class UnexpectedBmc:
    """A BMC that answers where the plan has none. `same_uuid`: nodes elsewhere that are known by its UUID."""

    bmc: FoundBmc
    same_uuid: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class MissingNode:
    """A node of a scanned range whose BMC did not answer. `elsewhere`: unexpected ones that say its UUID."""

    node: Planned
    last_seen: datetime | None
    elsewhere: tuple[FoundBmc, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A scan held against the plan: `expected` and `unexpected` by address, `missing` as the plan has them."""

    expected: tuple[ExpectedBmc, ...] = ()
    unexpected: tuple[UnexpectedBmc, ...] = ()
    missing: tuple[MissingNode, ...] = ()


def judge(scan: Scan, found: Iterable[FoundBmc], plan: Sequence[Planned]) -> Judgement:
    """Compare. The port does not matter where the plan names another one for the host.

    Nobody is missing outside the scanned ranges, or on another port than the scanned one: nobody has asked there.
    """
    remembered = tuple(found)
    exact = {node.bmc: node for node in plan}
    by_host = {node.bmc.host: node for node in reversed(plan)}
    expected, strangers = [], []
    for bmc in (one for one in remembered if one.last_seen >= scan.began_at):
        node = exact.get(bmc.address) or by_host.get(bmc.address.host)
        if node is None:
            strangers.append(bmc)
        else:
            expected.append(ExpectedBmc(bmc, node))
    nodes = _nodes_by_uuid(plan, remembered)
    unexpected = tuple(
        UnexpectedBmc(bmc, tuple(nodes.get(bmc.uuid, {}).values()) if has_uuid(bmc) else ()) for bmc in strangers
    )
    absent = _absent(scan, plan, {one.node.name for one in expected})
    return Judgement(tuple(expected), unexpected, tuple(_missing(absent, remembered, unexpected)))


def remember(known: FoundBmc | None, seen: Sighting, at: datetime) -> FoundBmc:
    """What is kept of a sighting. Another UUID at the same address is another board, and so is new."""
    uuid, vendor, product = (
        tidy(text) for text in (seen.identity.uuid.lower(), seen.identity.manufacturer, seen.identity.model)
    )
    fresh = FoundBmc(seen.address, uuid, vendor, product, at, at, seen.how)
    if known is None or (known.uuid and uuid and known.uuid != uuid):
        return fresh
    return replace(fresh, uuid=uuid or known.uuid, first_seen=known.first_seen, how=known.how)


def tidy(text: str) -> str:
    """One short printable line of what anybody on the network may have written."""
    return "".join(one for one in text.strip()[:LONGEST_TEXT] if one.isprintable())


def has_uuid(bmc: FoundBmc) -> bool:
    """It says a UUID that tells it from others."""
    return bmc.uuid not in _NO_UUIDS


def covers(networks: Iterable[IPv4Network | IPv6Network], host: str) -> bool:
    """The host is an address in one of the networks."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _nodes_by_uuid(plan: Iterable[Planned], remembered: Iterable[FoundBmc]) -> dict[str, dict[NodeName, Planned]]:
    """By what each node says, and by what the service root at its address has said: boards may have two UUIDs."""
    root = {one.address: one.uuid for one in remembered}
    nodes: dict[str, dict[NodeName, Planned]] = defaultdict(dict)
    for node in plan:
        for uuid in {(node.uuid or "").strip().lower(), root.get(node.bmc, "")} - _NO_UUIDS:
            nodes[uuid][node.name] = node
    return nodes


def _absent(scan: Scan, plan: Iterable[Planned], answered: set[NodeName]) -> Iterator[Planned]:
    networks = [ip_network(one) for one in scan.networks]
    for node in plan:
        if node.name not in answered and node.bmc.port == scan.port and covers(networks, node.bmc.host):
            yield node


def _missing(
    absent: Iterable[Planned], remembered: Iterable[FoundBmc], unexpected: Iterable[UnexpectedBmc]
) -> Iterator[MissingNode]:
    last_seen = {one.address: one.last_seen for one in remembered}
    elsewhere: dict[NodeName, list[FoundBmc]] = defaultdict(list)
    for stranger in unexpected:
        for node in stranger.same_uuid:
            elsewhere[node.name].append(stranger.bmc)
    for node in absent:
        yield MissingNode(node, last_seen.get(node.bmc), tuple(elsewhere.get(node.name, ())))
