"""Why packages cannot be had."""

from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit


class MirrorError(Exception):
    """Nothing can be built from what the mirrors give; `reasons` says all of it, each with its place and a remedy."""

    def __init__(self, reasons: Iterable[str]) -> None:
        """Keep the reasons in their order, each once; the text of the error is one reason per line."""
        self.reasons = tuple(dict.fromkeys(reasons))
        super().__init__("\n".join(self.reasons))


def shown(origin: str) -> str:
    """Return a URL as people may see it: without user, password and query; a path stays as it is."""
    if "://" not in origin:
        return origin
    parts = urlsplit(origin)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
