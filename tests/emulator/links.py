"""Where a document leads to."""

from typing import Any


def links(value: Any) -> list[str]:
    """Every path that a JSON value refers to, wherever in it."""
    if isinstance(value, dict):
        own = [value[name] for name in ("@odata.id", "@Redfish.ActionInfo") if isinstance(value.get(name), str)]
        return own + [found for part in value.values() for found in links(part)]
    return [found for part in value for found in links(part)] if isinstance(value, list) else []
