"""Whether firmware with Secure Boot on starts an EFI binary: PE/COFF Authenticode, UEFI 2.10, 32.4 and 32.5.3.3."""

import hashlib
import struct
from collections.abc import Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import pkcs7

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File, shown
from emulator.netboot.image import EfiBinary

_PKCS_SIGNED_DATA = 2
_HEADER_BYTES = 8


def check_signature(file: File, binary: EfiBinary, trusted: Sequence[str]) -> None:
    """Raise BootError for what firmware refuses: no signature, no key of db behind it, bytes changed since.

    `trusted`: the certificates of db as PEM. The signature's arithmetic is not repeated; its digest is, where the
    whole file is at hand.
    """
    if binary.signature is None:
        raise _denied(file, "is not signed")
    message = _signed_data(file, binary.signature)
    try:
        certificates = pkcs7.load_der_pkcs7_certificates(message) if message else []
    except ValueError:
        certificates = []
    if not certificates:
        raise _denied(file, "has a signature that cannot be read")
    known = [x509.load_pem_x509_certificate(pem.encode()) for pem in trusted]
    if not any(_comes_from(one, key) for one in certificates for key in known):
        raise _denied(file, f"is signed by {certificates[0].subject.rfc4514_string()}, which is not in db")
    if file.complete and _digest(file.content, binary) not in message:
        raise _denied(file, "was changed after it was signed")


def _denied(file: File, why: str) -> BootError:
    return BootError(f"{shown(file.url)} {why}, and Secure Boot is on: Access Denied")


def _signed_data(file: File, place: tuple[int, int]) -> bytes:
    """The PKCS #7 of the first entry of the table of certificates; empty where there is none."""
    at, size = place
    start = at if file.complete else at - (file.size_bytes - len(file.tail))
    held = file.content if file.complete else file.tail
    entry = held[start : start + size] if start >= 0 else b""
    if len(entry) < _HEADER_BYTES:
        return b""
    length, _revision, kind = struct.unpack_from("<IHH", entry)
    return entry[_HEADER_BYTES:length] if kind == _PKCS_SIGNED_DATA else b""


def _comes_from(certificate: x509.Certificate, key: x509.Certificate) -> bool:
    if certificate == key:
        return True
    try:
        certificate.verify_directly_issued_by(key)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _digest(content: bytes, binary: EfiBinary) -> bytes:
    """Of the file without its checksum, the entry of its signature and the signature. The file is 8-byte aligned."""
    end = binary.signature[0] if binary.signature else len(content)
    parts = (
        content[: binary.checksum_at],
        content[binary.checksum_at + 4 : binary.directory_at],
        content[binary.directory_at + 8 : end],
    )
    return hashlib.sha256(b"".join(parts)).digest()
