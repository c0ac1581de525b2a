"""Channels of the site: what each asks of a release, when no pointer moves, and whose signatures count."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from profiles.fields import Duration, Number, Profile, Text, Whole
from profiles.problems import Problem, refuse, refuse_if_any
from provisioner.models.channel import Channel
from provisioner.pool_settings import WindowSettings, Zone
from provisioner.promotion.freeze import Freeze
from provisioner.promotion.policy import DEFAULTS, Policy

_LONGEST_HOURS = 10_000


def _local_time(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise refuse(f"{value!r} is no time", 'write "2026-12-19 18:00", in quotes') from error
    if moment.tzinfo is not None:
        raise refuse(f"{value!r} has a zone of its own", "leave it out, and write the zone into `zone`")
    return value


LocalTime = Annotated[Text, AfterValidator(_local_time)]


class SoakSettings(Profile):
    """How long nodes run a release first: all three. What is left out is as the channel's default."""

    hours: Annotated[Number, Field(ge=0, le=_LONGEST_HOURS)] | None = None
    node_hours: Annotated[Number, Field(ge=0, le=10**9)] | None = None
    domains: Annotated[Whole, Field(ge=0, le=100_000, description="racks")] | None = None


class ChannelSettings(Profile):
    """What a channel asks of a release. What is left out is as the channel's default.

    `signatures`, `tests`, `sbom`: signed statements about its image. `approvals`: persons beside the requester.
    """

    signatures: bool | None = None
    tests: bool | None = None
    sbom: bool | None = None
    soak: SoakSettings = SoakSettings()
    approvals: Annotated[Whole, Field(ge=0, le=10)] | None = None
    expires_after: Duration | None = None
    longest_waiver: Duration | None = None

    def over(self, default: Policy) -> Policy:
        """The default with what is written here."""
        soak = {name: value for name, value in dict(self.soak).items() if value is not None}
        asked = {name: value for name, value in dict(self).items() if value is not None and name != "soak"}
        return replace(default, **asked, soak=replace(default.soak, **soak))


class FreezeSettings(Profile):
    """When no pointer of these channels moves: once, `begins` until `ends` in local time of `zone`, or `weekly`."""

    name: Text
    channels: Annotated[tuple[Channel, ...], Field(min_length=1)] = (Channel.PRODUCTION,)
    zone: Zone = "UTC"
    begins: LocalTime | None = None
    ends: LocalTime | None = None
    weekly: WindowSettings | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        once = self.begins is not None and self.ends is not None
        if once == (self.weekly is not None) or (self.begins is None) != (self.ends is None):
            refuse_if_any([Problem((), "needs begins and ends, or weekly", "write when it is")])
        if once and self._at(self.begins) >= self._at(self.ends):
            refuse_if_any([Problem(("ends",), "is not after begins", "correct one of them")])
        return self

    def freeze(self) -> Freeze:
        """For the gates."""
        zone = ZoneInfo(self.weekly.zone if self.weekly else self.zone)
        if self.weekly is not None:
            return Freeze(self.name, zone, weekly=self.weekly.window())
        return Freeze(self.name, zone, self._at(self.begins), self._at(self.ends))

    def _at(self, local: str | None) -> datetime:
        return datetime.fromisoformat(local or "").replace(tzinfo=ZoneInfo(self.zone))


class Trust(Profile):
    """Whose signatures count. `keys`: the folder of `firstlight keys init`; the site needs its public-keys.json alone.

    `decisions`: the private key (a file) that this service signs promotions with; where absent
    keys/snapshot/snapshot-1.key, if that is there.
    """

    keys: Path
    decisions: Path | None = None

    def below(self, folder: Path) -> "Trust":
        """The same, with relative paths taken from `folder`."""
        decisions = None if self.decisions is None else folder / self.decisions
        return self.model_copy(update={"keys": folder / self.keys, "decisions": decisions})


def policies_of(
    channels: Mapping[Channel, ChannelSettings], freezes: tuple[FreezeSettings, ...]
) -> Mapping[Channel, Policy]:
    """Every channel: its default, what the site says of it, and its freezes."""
    found = {}
    for channel, default in DEFAULTS.items():
        policy = channels.get(channel, ChannelSettings()).over(default)
        found[channel] = replace(policy, freezes=tuple(one.freeze() for one in freezes if channel in one.channels))
    return found
