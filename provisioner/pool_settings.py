"""Pools of the site: which nodes serve one purpose, what must stay in service, and when something may be changed."""

import re
from datetime import time
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from profiles.fields import Duration, Name, Profile, Text, Whole
from profiles.problems import refuse
from provisioner.models.scheduling import CheckpointThenRequeue, DrainPolicy, WaitForJobs
from provisioner.rollout.inventory import Pool
from provisioner.rollout.spec import Floor, Soak
from provisioner.rollout.windows import Window

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_PERCENT = re.compile(r"(\d{1,3})%", re.ASCII)
_MOST = 1_000_000
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


def parse_floor(value: object) -> Floor:
    """`90%` of the nodes, or a count of them."""
    if isinstance(value, Floor):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return Floor(count=value)
    found = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) > 100:
        raise refuse(f"{value!r} is no floor", "write a share such as 90%, or a number of nodes")
    return Floor(percent=int(found[1]))


FloorText = Annotated[
    Floor,
    BeforeValidator(parse_floor),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 1_000_000},
                {"type": "string", "pattern": "^([0-9]|[1-9][0-9]|100)%$"},
            ]
        }
    ),
]


def _weekday(value: str) -> str:
    if value not in _DAYS:
        raise refuse(f"{value!r} is no weekday", f"one of {', '.join(_DAYS)}")
    return value


def _clock(value: str) -> str:
    if not _CLOCK.fullmatch(value):
        raise refuse(f"{value!r} is no time of day", 'write "22:00", in quotes')
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise refuse(f"{value!r} is no time zone", "write it such as Europe/Berlin, or UTC") from error
    return value


Zone = Annotated[Text, AfterValidator(_zone)]
"""Such as Europe/Berlin."""


class WindowSettings(Profile):
    """Opens on each of `days` at `start` local time of `zone`, for `open_for` of real time."""

    days: Annotated[tuple[Annotated[Text, AfterValidator(_weekday)], ...], Field(min_length=1)] = _DAYS
    start: Annotated[Text, AfterValidator(_clock)]
    open_for: Duration
    zone: Zone = "UTC"

    def window(self) -> Window:
        """For the core."""
        hour, minute = (int(part) for part in self.start.split(":"))
        days = frozenset(_DAYS.index(day) for day in self.days)
        return Window(days, time(hour, minute), self.open_for, ZoneInfo(self.zone))


class FollowSettings(Profile):
    """A pool that follows a channel by itself: what is promoted there is rolled out in the next window.

    `hold`: how long a pointer has to stand before it is followed.
    """

    channel: Name
    hold: Duration = Field(default="1m", validate_default=True)


class PoolSettings(Profile):
    """One pool: nodes of a hardware class, all of them unless `racks` or `nodes` are named.

    `floor`: what stays in service. `scheduler`: one of `schedulers`; none: its nodes are out of service as soon as they
    are taken. `drain`: jobs come to their end, or are sent a signal and put back into the queue. `precious`: nodes
    that go last. `keep_back`: the pool stays on its release until told otherwise; a person is reminded once it is older
    than `age_alarm`.
    """

    hardware_class: Name
    racks: tuple[Text, ...] = ()
    nodes: tuple[Text, ...] = ()
    precious: tuple[Text, ...] = ()
    floor: FloorText = Field(default="90%", validate_default=True)
    windows: tuple[WindowSettings, ...] = ()
    scheduler: Name | None = None
    drain: Literal["wait", "checkpoint"] = "wait"
    drain_deadline: Duration = Field(default="30m", validate_default=True)
    checkpoint_signal: Annotated[Text, Field(pattern=r"^[A-Z0-9]{2,12}$")] = "USR1"
    checkpoint_grace: Duration = Field(default="10m", validate_default=True)
    soak: Duration = Field(default="1h", validate_default=True)
    soak_node_hours: Annotated[float, Field(ge=0)] = 0.0
    canaries: Annotated[Whole, Field(ge=1, le=1000)] = 1
    follow: FollowSettings | None = None
    keep_back: bool = False
    age_alarm: Duration = Field(default="90d", validate_default=True)

    def pool(self, name: str, domain_nodes: int = 1) -> Pool:
        """For the core. `domain_nodes`: nodes that move together; who only asks which nodes are of it leaves it out."""
        return Pool(
            name=name,
            hardware_class=self.hardware_class,
            domain_nodes=domain_nodes,
            racks=frozenset(self.racks),
            nodes=frozenset(self.nodes),
            precious=frozenset(self.precious),
        )

    def policy(self) -> DrainPolicy:
        """For the scheduler. The rollout itself keeps the deadline."""
        if self.drain == "wait":
            return WaitForJobs()
        return CheckpointThenRequeue(self.checkpoint_signal, self.checkpoint_grace)

    def soaks(self) -> Soak:
        """For the core."""
        return Soak(self.soak, self.soak_node_hours)


def default_pool(hardware_class: str) -> PoolSettings:
    """All nodes of a class: the pool of a site that names none."""
    return PoolSettings(hardware_class=hardware_class)
