"""The two power feeds of a machine, which runs while one is live. Supplies take turns: the first one is on feed a."""

FEEDS = frozenset({"a", "b"})
NONE: frozenset[str] = frozenset()


def feed_of(supply: int) -> str:
    """The feed behind the supply with that number, counted from zero."""
    return sorted(FEEDS)[supply % len(FEEDS)]
