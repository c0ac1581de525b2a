"""Secrets that cannot be printed by accident."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final


@final
class Secret:
    """A string whose `repr`, `str` and formatting are `***`; only `reveal()` gives it out."""

    __slots__ = ("_open", "_value")

    _value: str | None
    _open: Callable[[], str]

    def __init__(self, value: str) -> None:
        """Keep `value` away from logs, pages, URLs and tracebacks."""
        self._value = value

    @classmethod
    def sealed(cls, opener: Callable[[], str]) -> "Secret":
        """One that `opener` decrypts when it is first needed: until then nobody has paid for it, nor could read it.

        What `opener` raises, `reveal` and `==` raise.
        """
        secret = cls.__new__(cls)
        secret._value, secret._open = None, opener
        return secret

    def reveal(self) -> str:
        """The secret itself, for the one call that needs it."""
        if self._value is None:
            self._value = self._open()
        return self._value

    def __repr__(self) -> str:
        """Never the secret."""
        return "***"

    def __eq__(self, other: object) -> bool:
        """Equal when both are secrets with the same value."""
        return isinstance(other, Secret) and other.reveal() == self.reveal()

    def __hash__(self) -> int:
        """As the value."""
        return hash(self.reveal())


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and password of a BMC account."""

    username: str
    password: Secret
