"""Nodes and pods of Kubernetes' API, and the evictions that it refuses: what of it concerns us. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from provisioner.models.scheduling import OWNER, Cordon, Job, OurReason, SchedulerView

CORDON = "firstlight.dev/cordon"
"""The annotation that says whose the cordon is, and why."""
VETO = "firstlight.dev/veto"
"""The annotation by which a person keeps us off a node: `name: why`. kubectl cannot cordon what we have cordoned."""
RELEASE = "firstlight.dev/release"
"""The label with the release that a node runs."""

_MIRROR = "kubernetes.io/config.mirror"
_OVER = {"Succeeded", "Failed"}
_BUDGET = re.compile(r"disruption budget (\S+)")


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod that a drain is about. `owned`: somebody makes another one. `ends`: it ends by itself some day."""

    namespace: str
    name: str
    uid: str
    node: str
    owned: bool
    ends: bool
    leaving: bool
    ends_at: datetime | None

    @property
    def id(self) -> str:
        """As kubectl takes it."""
        return f"{self.namespace}/{self.name}"

    @property
    def job(self) -> Job:
        """For a view."""
        return Job(self.id, self.ends_at)


def pods_of(items: list[Mapping[str, Any]]) -> Iterator[Pod]:
    """Without those that a drain leaves alone: of DaemonSets, of the kubelet itself, and those that are over."""
    for item in items:
        meta, spec, status = item["metadata"], item["spec"], item.get("status") or {}
        owner: Mapping[str, Any] = next((one for one in meta.get("ownerReferences") or () if one.get("controller")), {})
        if owner.get("kind") == "DaemonSet" or _MIRROR in (meta.get("annotations") or {}):
            continue
        if status.get("phase") in _OVER or not spec.get("nodeName"):
            continue
        yield Pod(
            namespace=meta["namespace"],
            name=meta["name"],
            uid=meta["uid"],
            node=spec["nodeName"],
            owned=bool(owner),
            ends=spec.get("restartPolicy", "Always") != "Always",
            leaving=bool(meta.get("deletionTimestamp")),
            ends_at=_end(spec, status),
        )


def view_of(node: Mapping[str, Any], pods: list[Pod]) -> SchedulerView:
    """`pods`: of this node. Raises KeyError or TypeError for what is no node."""
    labels = node["metadata"].get("labels") or {}
    return SchedulerView(
        cordons=tuple(_cordons(node)),
        jobs=tuple(pod.job for pod in pods),
        labels=frozenset(_label(key, value) for key, value in labels.items()),
        away=_away(node),
    )


def budget_of(body: Mapping[str, Any]) -> str | None:
    """The PodDisruptionBudget that an eviction was refused for; None for another cause, such as too many requests."""
    causes = (body.get("details") or {}).get("causes") or ()
    said = [str(one.get("message")) for one in causes if one.get("reason") == "DisruptionBudget"]
    if not said:
        return None
    found = _BUDGET.search(" ".join(said))
    return found[1] if found else "of a name that it does not tell"


def _cordons(node: Mapping[str, Any]) -> Iterator[Cordon]:
    annotations = node["metadata"].get("annotations") or {}
    if VETO in annotations:
        who, colon, why = annotations[VETO].partition(":")
        yield Cordon(who.strip() or "somebody", why.strip()) if colon else Cordon("somebody", annotations[VETO])
    if not (node.get("spec") or {}).get("unschedulable"):
        return
    text = annotations.get(CORDON, "")
    if OurReason.parse(text):
        yield Cordon(OWNER, text)
    else:
        yield Cordon(_manager(node), "spec.unschedulable is set")


def _manager(node: Mapping[str, Any]) -> str:
    """Which program has cordoned it, as far as the API server has noted that."""
    for entry in node["metadata"].get("managedFields") or ():
        if "f:unschedulable" in ((entry.get("fieldsV1") or {}).get("f:spec") or {}):
            return str(entry.get("manager") or "somebody")
    return "somebody"


def _label(key: str, value: str) -> str:
    if key == RELEASE:
        return value
    return f"{key}={value}" if value else key


def _away(node: Mapping[str, Any]) -> str:
    for condition in (node.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready":
            if condition.get("status") == "True":
                return ""
            return f"its kubelet is not ready: {condition.get('reason', '')} {condition.get('message', '')}".strip()
    return "its kubelet has never said that it is ready"


def _end(spec: Mapping[str, Any], status: Mapping[str, Any]) -> datetime | None:
    seconds, start = spec.get("activeDeadlineSeconds"), status.get("startTime")
    return datetime.fromisoformat(start) + timedelta(seconds=seconds) if seconds and start else None
