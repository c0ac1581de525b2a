"""Secrets that cannot be printed by accident."""

from dataclasses import dataclass
from typing import final


@final
class Secret:
    """A string whose `repr`, `str` and formatting are `***`; only `reveal()` gives it out."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Keep `value` away from logs, pages, URLs and tracebacks."""
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        """Never the secret."""
        return "***"

    def __eq__(self, other: object) -> bool:
        """Equal when both are secrets with the same value."""
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        """As the value."""
        return hash(self._value)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and password of a BMC account."""

    username: str
    password: Secret
