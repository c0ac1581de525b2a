"""The file with the keys that everything secret in the database is encrypted with."""

import os
import stat
from pathlib import Path

from cryptography.fernet import Fernet

from images.whole_files import sync_directory
from provisioner.errors import BadInput

_PRIVATE = 0o600


def read_keys(path: Path) -> tuple[bytes, ...]:
    """The keys, newest first; a file with one new key is made when there is none.

    One Fernet key a line; empty lines and lines that start with `#` mean nothing. Raises `BadInput` when others
    than the owner may read the file, or when it holds something else.
    """
    if not path.exists():
        _create(path)
    try:
        _refuse_readable_by_others(path)
        lines = path.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot read the key file: {error}") from error
    keys = tuple(_key(path, number, line.strip()) for number, line in enumerate(lines, 1) if _says_something(line))
    if not keys:
        raise BadInput(f"{path}: the key file holds no key: restore it from a backup")
    return keys


def add_key(path: Path) -> None:
    """Put a new key before the others: it encrypts from the next start on, the others still decrypt."""
    keys = (Fernet.generate_key(), *read_keys(path))
    fresh = _write_beside(path, b"".join(key + b"\n" for key in keys))
    fresh.replace(path)
    sync_directory(path.parent)


def _create(path: Path) -> None:
    """Of several processes that start at once, one makes the file and all use it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = _write_beside(path, Fernet.generate_key() + b"\n")
        try:
            path.hardlink_to(fresh)
        except FileExistsError:
            return
        finally:
            fresh.unlink()
        sync_directory(path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot create the key file: {error}") from error


def _write_beside(path: Path, content: bytes) -> Path:
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    return fresh


def _refuse_readable_by_others(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise BadInput(f"{path}: others may read the key file (mode {mode:04o}): run `chmod 600 {path}`")


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _key(path: Path, number: int, line: str) -> bytes:
    try:
        Fernet(line)
    except ValueError as error:
        raise BadInput(f"{path}:{number}: not a Fernet key (44 characters of URL-safe base64)") from error
    return line.encode()
