"""Waiting between tries: exponential, with jitter, so that a rack does not come back in step."""

import random
from collections.abc import Iterator

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 15.0


def backoff_seconds() -> Iterator[float]:
    """Yield 0.2, 0.4, 0.8 ... 15, each between half and all of it."""
    seconds = FIRST_SECONDS
    while True:
        yield jittered(seconds * 0.75, share=1 / 3)
        seconds = min(seconds * 2, LONGEST_SECONDS)


def jittered(seconds: float, *, share: float = 0.2) -> float:
    """Return the time, more or less by up to `share` of it."""
    return seconds * random.uniform(1 - share, 1 + share)  # noqa: S311 - jitter is no secret
