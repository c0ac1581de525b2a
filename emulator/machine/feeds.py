"""The two power feeds of a machine; it runs while one of them is live."""

FEEDS = frozenset({"a", "b"})
NONE: frozenset[str] = frozenset()
