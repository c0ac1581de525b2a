"""What a person asks of a rollout, and the spec that comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from profiles.release import Release
from provisioner.capabilities.clock import Clock
from provisioner.lifecycle.table import RULES
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.pool_settings import PoolSettings
from provisioner.promotion.edges import edge
from provisioner.rollout.intent import Action
from provisioner.rollout.spec import Floor, Metric, ReturnScope, Soak, Spec, default_caps
from provisioner.rollout.unit import DomainKind

_SLACK = 2.0
_BOOT = (State.INVENTORIED, State.CONFIGURING_BIOS, State.BOOTING)
_LEAST = timedelta(minutes=5)
"""Of a deadline, in real time, where the site's time takes no time: what a busy machine of ours may need."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person wants. None: as the pool says."""

    name: str
    pool: str
    release: str
    """Its name, or its digest where a node runs it or somebody made it."""
    floor: Floor | None = None
    soak: Soak | None = None
    canaries: int | None = None
    caps: Mapping[DomainKind, int] | None = None
    drain_deadline: timedelta | None = None
    deadlines: Mapping[Action, timedelta] = field(default_factory=dict)
    tries: int = 3
    may_run_short: int = 0
    auto_return: bool = True
    return_scope: ReturnScope = ReturnScope.WAVE
    retention: timedelta = timedelta(days=7)
    silence: timedelta = timedelta(minutes=10)
    metrics: tuple[Metric, ...] = ()
    control_required: bool = True
    ignore_windows: bool = False
    """The emergency lane: the same rules, without waiting for a window."""
    supersedes: str | None = None
    seed: int = 0


def spec_of(order: Order, pool: PoolSettings, release: Release, old: Release | None, clock: Clock) -> Spec:
    """What the core is asked for. `old`: what most of the pool runs."""
    brings = old is not None and release.firmware != old.firmware
    sealed = old is not None and bool(edge(old, release).one_way)
    return Spec(
        name=order.name,
        pool=order.pool,
        from_release=ReleaseDigest(old.digest if old else ""),
        to_release=ReleaseDigest(release.digest),
        floor=order.floor or pool.floor,
        to_firmware=release.firmware.name if brings else None,
        firmware_by_reboot=True,
        windows=() if order.ignore_windows else tuple(one.window() for one in pool.windows),
        soak=order.soak or pool.soaks(),
        caps=default_caps() if order.caps is None else order.caps,
        canaries_per_kind=order.canaries or pool.canaries,
        drain_deadline=order.drain_deadline or pool.drain_deadline,
        deadlines={**_deadlines(release, clock), **order.deadlines},
        tries=order.tries,
        burn_in=False,
        may_run_short=order.may_run_short,
        auto_return=order.auto_return,
        return_scope=order.return_scope,
        retention=order.retention,
        irreversible=brings and sealed,
        old_image_on_new_firmware=not sealed or _bridges(release),
        silence=order.silence,
        metrics=order.metrics,
        control_required=order.control_required,
        seed=order.seed,
    )


def _bridges(release: Release) -> bool:
    """Somebody has said that the old image runs on its firmware. What nobody has said is not so."""
    return release.constraints is not None and release.constraints.old_image_on_new_firmware is True


def _deadlines(release: Release, clock: Clock) -> Mapping[Action, timedelta]:
    """By the release's own figures, with slack: its burn-in is part of the way to ready, and so of the check."""
    firmware = sum(
        float(one.expected_minutes) + float(one.activation_minutes or 0) for one in release.firmware.components
    )
    way = timedelta(minutes=firmware) + sum((RULES[one].expected or timedelta() for one in _BOOT), timedelta())
    burn_in = sum((item.deadline for item in release.burn_in.items), timedelta())
    return {Action.REBOOT: _real(way, clock), Action.CHECK: _real(burn_in, clock)}


def _real(duration: timedelta, clock: Clock) -> timedelta:
    """Whole seconds of real time at the site's pace."""
    return max(timedelta(seconds=round(clock.work(_SLACK * duration))), _LEAST)


def order_document(order: Order) -> dict[str, Any]:
    """As JSON, to hold another order against it."""
    return {name: _plain(getattr(order, name)) for name in Order.__dataclass_fields__}


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Floor | Soak):
        return {name: _plain(getattr(value, name)) for name in type(value).__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value
