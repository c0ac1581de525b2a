"""Keys that sign releases: offline root and targets keys with thresholds, online snapshot and timestamp keys."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from securesystemslib.signer import CryptoSigner, SSlibKey

from images.trust.errors import TrustError

PUBLIC = "public-keys.json"
Signer = CryptoSigner
"""A private key."""
_SCHEME = "ed25519"


class Role(StrEnum):
    """Who signs what, in TUF's words."""

    ROOT = "root"
    """Says which keys count; offline."""
    TARGETS = "targets"
    """The release managers: which digest a name stands for, and statements; offline."""
    SNAPSHOT = "snapshot"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class Keyholders:
    """Public keys of a role, no two alike, and how many different ones have to sign."""

    threshold: int
    keys: tuple[SSlibKey, ...]

    def __post_init__(self) -> None:
        """Raises `TrustError` for a threshold that cannot be, and for a key that is there twice or is not ed25519."""
        if not 1 <= self.threshold <= len(self.keys):
            raise TrustError(f"{self.threshold} of {len(self.keys)} keys: take at least 1, and no more than there are")
        if len({key.keyval["public"] for key in self.keys}) != len(self.keys):
            raise TrustError("one key stands there twice: it would count twice")
        for key in self.keys:
            if key.scheme != _SCHEME or key.keyid != _keyid(key):
                raise TrustError(f"key {key.keyid[:16]} is not an ed25519 key under its own id")


def _keyid(key: SSlibKey) -> str:
    """Such as the library gives it to a key; "" for what is none."""
    try:
        raw = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.keyval["public"]))
    except ValueError:
        return ""
    return SSlibKey.from_crypto(raw, None, _SCHEME).keyid


Keyring = Mapping[Role, Keyholders]
"""Every role is there."""


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """How many keys a role gets, and how many have to sign."""

    threshold: int
    count: int


DEFAULT_PLAN: Mapping[Role, KeyPlan] = {
    Role.ROOT: KeyPlan(3, 5),
    Role.TARGETS: KeyPlan(2, 3),
    Role.SNAPSHOT: KeyPlan(1, 1),
    Role.TIMESTAMP: KeyPlan(1, 1),
}


def make_signers(plan: Mapping[Role, KeyPlan]) -> dict[Role, list[CryptoSigner]]:
    """New private keys."""
    return {role: [CryptoSigner.generate_ed25519() for _ in range(one.count)] for role, one in plan.items()}


def keyring_of(signers: Mapping[Role, Sequence[CryptoSigner]], plan: Mapping[Role, KeyPlan]) -> Keyring:
    """The public half. Raises `TrustError`."""
    return {role: Keyholders(plan[role].threshold, tuple(one.public_key for one in signers[role])) for role in signers}


def write_keys(
    folder: Path, signers: Mapping[Role, Sequence[CryptoSigner]], keyring: Keyring, more: Mapping[str, bytes]
) -> None:
    """Write private keys (0600, `<role>/<role>-<n>.key`), the public ones, and `more` into a new folder.

    All or nothing: the folder gets its name when it is complete. Raises `TrustError` when it is there already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TrustError(f"{folder} is not empty: keys are never overwritten; name a new folder")
    new = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}")
    new.mkdir(parents=True, mode=0o700)
    try:
        for role, holders in signers.items():
            (new / role).mkdir(mode=0o700)
            for number, signer in enumerate(holders, 1):
                _write(new / role / f"{role}-{number}.key", signer.private_bytes, 0o600)
        for name, content in {PUBLIC: write_keyring(keyring), **more}.items():
            _write(new / name, content, 0o644)
        new.rename(folder)
    except OSError as error:
        raise TrustError(f"{folder}: no keys were written: {error}") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def read_signer(path: Path) -> CryptoSigner:
    """A private key from its file. Raises `TrustError`; what is in the file is not told."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise TrustError(f"{path}: no private key can be read from it ({type(error).__name__})") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise TrustError(f"{path}: it is not an ed25519 key; `firstlight keys init` makes them")
    return CryptoSigner(key)


def write_keyring(keyring: Keyring) -> bytes:
    """As `read_keyring` takes it."""
    roles = {
        role: {"threshold": one.threshold, "keys": {key.keyid: key.to_dict() for key in one.keys}}
        for role, one in keyring.items()
    }
    return json.dumps(roles, indent=2, sort_keys=True).encode() + b"\n"


def read_keyring(path: Path) -> Keyring:
    """Public keys from a file. Raises `TrustError`."""
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
        return {role: _keyholders(document[role]) for role in Role}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrustError(f"{path}: no public keys of ours: {error}") from error


def _keyholders(document: dict[str, Any]) -> Keyholders:
    keys = tuple(SSlibKey.from_dict(keyid, dict(key)) for keyid, key in document["keys"].items())
    return Keyholders(int(document["threshold"]), keys)


def _write(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
