"""A site's own Secure Boot keys: PK and KEK decide what may be enrolled, db is what boot programs are signed with."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from images.boot_program.signature_lists import Signer, signature_list, signed_update

_YEARS = {"PK": 30, "KEK": 30, "db": 15}
"""Firmware does not look at the dates; certificates of people's tools do."""

_BITS = 2048  # every UEFI firmware takes it; some refuse more
_SIGNED_BY = {"PK": "PK", "KEK": "PK", "db": "KEK"}


class KeysExistError(Exception):
    """There are keys in the folder already, and they are never overwritten."""


@dataclass(frozen=True, slots=True)
class KeyMaterial:
    """New keys. `files`: name -> content; names that end in .key are private. `lists`: variable -> signature list."""

    owner: UUID
    made_at: datetime
    files: Mapping[str, bytes]
    lists: Mapping[str, bytes]


def make_keys(site: str, at: datetime) -> KeyMaterial:
    """Make PK, KEK and db: keys, certificates, signature lists and signed updates."""
    owner = uuid4()
    signers = {name: _signer(f"{site} Secure Boot {name}", at, _YEARS[name]) for name in _SIGNED_BY}
    lists = {name: signature_list(one.certificate, owner) for name, one in signers.items()}
    files: dict[str, bytes] = {"owner.txt": f"{owner}\n".encode()}
    for name, signer in signers.items():
        files[f"{name}.key"] = signer.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        files[f"{name}.pem"] = signer.certificate.public_bytes(serialization.Encoding.PEM)
        files[f"{name}.cer"] = signer.certificate.public_bytes(serialization.Encoding.DER)
        files[f"{name}.esl"] = lists[name]
        files[f"{name}.auth"] = signed_update(name, lists[name], signers[_SIGNED_BY[name]], at)
    return KeyMaterial(owner, at, files, lists)


def write_keys(material: KeyMaterial, folder: Path, more: Mapping[str, bytes]) -> None:
    """Write all files and those of `more` into a folder that only its owner may enter; raise KeysExistError.

    Either all files are there at the end or none: the folder gets its name when it is complete. A folder that exists
    is taken when it is empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KeysExistError(f"{folder} is not empty: keys are never overwritten; name a new folder")
    new = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}")
    new.mkdir(parents=True, mode=0o700)
    try:
        for name, content in {**material.files, **more}.items():
            _write(new / name, content, 0o600 if name.endswith(".key") else 0o644)
        new.rename(folder)
    except OSError as error:
        for path in new.iterdir():
            path.unlink()
        new.rmdir()
        if folder.exists() and any(folder.iterdir()):
            raise KeysExistError(f"{folder} is not empty: keys are never overwritten; name a new folder") from error
        raise


def _signer(common_name: str, at: datetime, years: int) -> Signer:
    key = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name[:64])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(days=1))
        .not_valid_after(at + timedelta(days=365 * years))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Signer(key, certificate)


def _write(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def now() -> datetime:
    """The time that firmware compares: whole seconds, UTC."""
    return datetime.now(UTC).replace(microsecond=0)
