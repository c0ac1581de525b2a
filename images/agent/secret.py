"""Credentials that do not show in logs."""


class Secret:
    """A credential; its value is read in one place, where it is sent."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        """Hold the value."""
        self.value = value

    def __repr__(self) -> str:
        """Return `***`."""
        return "***"
