"""What the API says of rollouts, as far as commands show it."""

from datetime import datetime

from pydantic import BaseModel


class Wave(BaseModel):
    """One wave as it went."""

    number: int
    state: str
    units: int
    failed_units: int
    soaked_seconds: float
    node_hours: float
    verdict: str | None
    why: str
    sees_defect_from: float


class Unit(BaseModel):
    """One unit that was taken."""

    unit: str
    wave: int
    state: str
    heading: str
    attempt: int
    nodes: list[str]
    why: str


class Floor(BaseModel):
    """One hardware class of the pool."""

    nodes: int
    in_service: int | None
    floor: int


class Trials(BaseModel):
    """Nodes tried, and failed."""

    nodes: int
    failed: int


class Line(BaseModel):
    """One line of a history."""

    at: datetime
    what: str


class Rollout(BaseModel):
    """Everything about one."""

    name: str
    pool: str
    from_release: str
    release: str
    state: str
    paused_by: str | None
    why: str
    next: str
    who: str
    approved_by: str
    irreversible: bool
    created_at: datetime
    closed_at: datetime | None
    floors: dict[str, Floor]
    counts: dict[str, int]
    waves: list[Wave]
    in_hand: list[Unit]
    trials: dict[str, Trials]
    control: dict[str, Trials]
    rejected: list[str]
    history: list[Line]


class Brief(BaseModel):
    """One in a list."""

    name: str
    pool: str
    release: str
    state: str
    why: str
    who: str
    created_at: datetime
    closed_at: datetime | None


class RolloutPage(BaseModel):
    """Some rollouts, and where the others begin."""

    rollouts: list[Brief]
    next: str | None


class WavePlan(BaseModel):
    """One wave."""

    number: int
    units: list[str]
    nodes: int
    sees_defect_from: float


class Plan(BaseModel):
    """What would happen."""

    name: str
    pool: str
    from_release: str
    to_release: str
    firmware: str | None
    irreversible: bool
    nodes: int
    may_be_out: dict[str, int]
    unit_minutes_at_most: float
    hours_at_least: float
    waves: list[WavePlan]
    excluded: dict[str, str]
    left_out: dict[str, str]
    broken: list[str]


class Rejected(BaseModel):
    """A release that came back."""

    release: str
    hardware_class: str
    rollout: str
    why: str
    at: datetime


class RejectedList(BaseModel):
    """Newest first."""

    rejected: list[Rejected]
