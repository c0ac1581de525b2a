"""Encryption with Fernet (AES-128-CBC and HMAC-SHA-256)."""

from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from provisioner.errors import BadInput
from provisioner.secrets.key_file import read_keys


def open_cipher(path: Path) -> "FernetCipher":
    """The cipher with the keys in `path`, which is made at the first start. Raises `BadInput`."""
    return FernetCipher(read_keys(path), path)


class FernetCipher:
    """A `Cipher` whose first key encrypts and whose every key decrypts."""

    def __init__(self, keys: tuple[bytes, ...], path: Path) -> None:
        """`path` is named in errors."""
        self._fernet = MultiFernet([Fernet(key) for key in keys])
        self._path = path

    def encrypt(self, plain: bytes) -> bytes:
        """Encrypt with the first key."""
        return self._fernet.encrypt(plain)

    def decrypt(self, sealed: bytes) -> bytes:
        """Decrypt with whichever key fits. Raises `BadInput` when none does."""
        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken as error:
            message = f"{self._path}: no key in this file fits what is in the database: restore the right key file"
            raise BadInput(message) from error
