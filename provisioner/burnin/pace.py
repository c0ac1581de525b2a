"""How fast a burn-in goes, in real time. Pure."""

from datetime import timedelta

MISSED = 3
"""Heartbeats that may be missing before an agent counts as silent."""

GRACE = timedelta(seconds=60)
"""An agent that has lost the service knocks again within 15 s, and one whose cores are all under test is late."""


def patience(heartbeat: timedelta) -> timedelta:
    """How long an agent may be silent. Heartbeats are real time at any speed: they cost what they cost."""
    return MISSED * heartbeat + GRACE
