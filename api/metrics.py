"""Nodes and events as Prometheus metrics, computed afresh for each scrape."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from provisioner.models.campaign import CampaignState
from provisioner.models.drift import FindingKind, StandingFinding
from provisioner.models.event import EventKind
from provisioner.models.instruction import Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.services.discoveries import Discoveries

_MINUTES = (1, 5, 15, 30, 60, 120, 360, 1440, 10080)


class _Families:
    """A collector of what was computed already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self._families


def exposition(families: Iterable[Metric], registry: CollectorRegistry) -> bytes:
    """`families`, and what `registry` collects, in the Prometheus text format."""
    own = CollectorRegistry(auto_describe=False)
    own.register(_Families(families))
    return generate_latest(own) + generate_latest(registry)


def families(
    nodes: Sequence[Node], events: Counter[EventKind], found: Discoveries, *, now: datetime
) -> Iterable[Metric]:
    """Pure. Every label value is there, also when it counts 0: a missing series is no zero to an alert."""
    yield _by_state(nodes)
    yield _time_in_state(nodes, now)
    yield _holds(nodes)
    yield _events(events)
    yield _gauge(
        "firstlight_bmcs_unexpected", "BMCs that answered in the last scan where no node is.", found.unexpected
    )
    yield _gauge("firstlight_bmcs_missing", "Nodes whose BMC did not answer in the last scan.", found.missing)


def fleet_families(findings: Sequence[StandingFinding], campaigns: Mapping[CampaignState, int]) -> Iterable[Metric]:
    """What concerns many nodes at once. Pure."""
    counts = Counter(one.finding.kind for one in findings)
    drift = GaugeMetricFamily("firstlight_firmware_drift", "Findings of the drift watch that stand.", labels=["kind"])
    for kind in FindingKind:
        drift.add_metric([kind], counts[kind])
    yield drift
    family = GaugeMetricFamily("firstlight_campaigns", "Campaigns in each state.", labels=["state"])
    for state, count in campaigns.items():
        family.add_metric([state], count)
    yield family


def _by_state(nodes: Sequence[Node]) -> Metric:
    counts = Counter(node.state for node in nodes)
    family = GaugeMetricFamily("firstlight_nodes", "Nodes in each state.", labels=["state"])
    for state in State:
        family.add_metric([state], counts[state])
    return family


def _time_in_state(nodes: Sequence[Node], now: datetime) -> Metric:
    """A histogram of now: how long the nodes that are in a state have been there."""
    family = HistogramMetricFamily(
        "firstlight_node_time_in_state_seconds", "How long nodes have been in their state.", labels=["state"]
    )
    for state in State:
        seconds = [(now - node.state_since).total_seconds() for node in nodes if node.state is state]
        buckets = [(str(60.0 * edge), sum(one <= 60 * edge for one in seconds)) for edge in _MINUTES]
        family.add_metric([state], [*buckets, ("+Inf", len(seconds))], sum_value=sum(seconds))
    return family


def _holds(nodes: Sequence[Node]) -> Metric:
    counts = Counter(node.hold.instruction.owner for node in nodes if node.hold)
    family = GaugeMetricFamily("firstlight_holds", "Nodes that wait for a person, by who it is.", labels=["owner"])
    for owner in Owner:
        family.add_metric([owner], counts[owner])
    return family


def _events(counts: Counter[EventKind]) -> Metric:
    family = CounterMetricFamily("firstlight_events", "Events in the history, by kind.", labels=["kind"])
    for kind in EventKind:
        family.add_metric([kind], counts[kind])
    return family


def _gauge(name: str, what: str, counted: Sequence[object]) -> Metric:
    return GaugeMetricFamily(name, what, len(counted))
