"""How fast a burn-in goes, in real time. Pure."""

from datetime import timedelta

MISSED = 3
"""Heartbeats that may be missing before an agent counts as silent."""

GRACE = timedelta(seconds=20)
"""Real time, at any speed: an agent that has lost the service knocks again within 15 s."""


def heartbeat_seconds(paced_seconds: float) -> float:
    """Real seconds between signs of life: as the plan says at the site's speed, but a thousand agents may share a
    service, so never more often than once a second.
    """
    return max(1.0, paced_seconds)


def patience(paced_seconds: float) -> timedelta:
    """How long an agent may be silent."""
    return timedelta(seconds=MISSED * heartbeat_seconds(paced_seconds)) + GRACE
