"""Encryption of what is kept."""

from typing import Protocol


class Cipher(Protocol):
    """Authenticated encryption with keys that are kept elsewhere than the database."""

    def encrypt(self, plain: bytes) -> bytes:
        """Encrypt with the newest key; the same bytes look different each time."""
        ...

    def decrypt(self, sealed: bytes) -> bytes:
        """The bytes again, with whichever key fits. Raises `BadInput` when none does."""
        ...
