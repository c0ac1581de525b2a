"""How often each principal may ask: a token bucket for each, in this process. Who asks too often hears when to return.

People and machines are told apart by their tokens, agents by their sessions, booting firmware by its address: a hall
that boots spends nobody's budget but its own. So do those whose token is worth nothing.
"""

import hashlib
import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import Depends, HTTPException, Request

_REMEMBERED = 100_000
"""Principals; of more, those are forgotten that have not asked for the longest time: their buckets are full again."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests a second in the long run, and so many at once."""

    per_second: float
    burst: int


BOOTS = Rate(2000, 20_000)
"""Of one address, as there may be a proxy before us: a node asks half a dozen times for one boot."""
AGENTS = Rate(20, 200)
"""Of one session; who has none yet spends of the boots."""
STRANGERS = Rate(50, 1000)
"""Requests with a token that is worth nothing, of one address."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Buckets:
    """One bucket per key. Not for several threads."""

    def __init__(self, rate: Rate) -> None:
        """All are full."""
        self._rate = rate
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, key: str, now: float) -> float:
        """Take one; 0, or the seconds until there is one. `now`: seconds of a clock that never goes back."""
        bucket = self._buckets.pop(key, None) or _Bucket(float(self._rate.burst), now)
        self._buckets[key] = bucket
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        filled = bucket.left + (now - bucket.at) * self._rate.per_second
        bucket.left, bucket.at = min(float(self._rate.burst), filled), now
        if bucket.left < 1.0:
            return (1.0 - bucket.left) / self._rate.per_second
        bucket.left -= 1.0
        return 0.0


@dataclass(frozen=True, slots=True)
class Budgets:
    """Of this process."""

    principals: Buckets
    strangers: Buckets
    boots: Buckets
    agents: Buckets

    @classmethod
    def of(cls, principals: Rate) -> "Budgets":
        """Full ones."""
        return cls(Buckets(principals), Buckets(STRANGERS), Buckets(BOOTS), Buckets(AGENTS))


def spend(buckets: Buckets, key: str) -> None:
    """Answers 429 where nothing is left."""
    wait = buckets.take(key, time.monotonic())
    if wait:
        seconds = math.ceil(wait)
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"too many requests: ask again in {seconds} s",
            headers={"Retry-After": str(seconds)},
        )


def budgets_of(request: Request) -> Budgets:
    """Those of the app."""
    budgets: Budgets = request.app.state.budgets
    return budgets


def address_of(request: Request) -> str:
    """Who asks, as far as the connection tells."""
    return request.client.host if request.client else ""


async def _boot(request: Request) -> None:
    spend(budgets_of(request).boots, address_of(request))


async def _agent(request: Request) -> None:
    session = request.headers.get("Authorization")
    if session is None:
        await _boot(request)
        return
    spend(budgets_of(request).agents, hashlib.sha256(session.encode()).hexdigest())


AsBoot = Depends(_boot)
AsAgent = Depends(_agent)
