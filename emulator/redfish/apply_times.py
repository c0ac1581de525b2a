"""@Redfish.SettingsApplyTime: when settings that were written come into force (DSP0266, settings resource)."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from emulator.redfish.errors import missing, not_in_list, wrong_type
from emulator.redfish.http import Request

NAME = "@Redfish.SettingsApplyTime"
_WINDOWS = ("AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")
_START = "MaintenanceWindowStartTime"
_DURATION = "MaintenanceWindowDurationInSeconds"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client asked for; `window`: begin and end, seconds since 1970."""

    time: str
    window: tuple[float, float] | None


def read_apply_time(request: Request, body: dict[str, Any]) -> Wanted | None:
    """The apply time of a request, or None. Raises RedfishError 400."""
    asked = body.get(NAME)
    if asked is None:
        return None
    if not isinstance(asked, dict):
        raise wrong_type(asked, NAME)
    time = request.text(asked, "ApplyTime")
    if time not in request.machine.board.persona.bios.apply_times:
        raise not_in_list(time, "ApplyTime")
    return Wanted(time, _window(request, asked) if time in _WINDOWS else None)


def _window(request: Request, asked: dict[str, Any]) -> tuple[float, float]:
    text = request.text(asked, _START)
    try:
        begin = dt.datetime.fromisoformat(text)
    except ValueError:
        raise not_in_list(text, _START) from None
    seconds = asked.get(_DURATION)
    if seconds is None:
        raise missing(_DURATION)
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds <= 0:
        raise wrong_type(seconds, _DURATION)
    start = (begin if begin.tzinfo else begin.replace(tzinfo=dt.UTC)).timestamp()
    return start, start + seconds
