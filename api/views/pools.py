"""Pools as the API shows them."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from provisioner.services.pools import PoolState


class PoolView(BaseModel):
    """One pool. `releases`: nodes by the release that they should run."""

    name: str
    hardware_class: str
    nodes: int
    in_service: int
    floor: int
    releases: dict[str, int]
    rollout: str | None = Field(description="the one that has not ended")
    scheduler: str | None
    follows: str | None = Field(description="the channel that it follows by itself")
    kept_back: bool
    channel: str | None = Field(description="the channel that it is held against; null: nothing was promoted there")
    wanted: str | None = Field(description="the release of that channel")
    wanted_since: datetime | None
    behind: int = Field(description="nodes that run something else")
    overdue: bool = Field(description="for longer than the pool's age_alarm")

    @classmethod
    def of(cls, one: PoolState) -> Self:
        """The view."""
        pointer, pool = one.pointer, one.settings
        return cls(
            name=one.name,
            hardware_class=pool.hardware_class,
            nodes=one.nodes,
            in_service=one.in_service,
            floor=one.floor,
            releases={str(release): count for release, count in sorted(one.releases.items())},
            rollout=one.rollout,
            scheduler=pool.scheduler,
            follows=pool.follow.channel if pool.follow else None,
            kept_back=pool.keep_back,
            channel=pointer.channel if pointer else None,
            wanted=pointer.release if pointer else None,
            wanted_since=pointer.since if pointer else None,
            behind=one.behind,
            overdue=one.overdue,
        )


class PoolList(BaseModel):
    """By name."""

    pools: list[PoolView]
