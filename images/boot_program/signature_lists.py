"""Secure Boot variables as firmware takes them: signature lists, and updates signed by the owner of the key above.

UEFI specification 2.10, sections 8.2.2 (authenticated variables), 8.2.6 (their names), 32.4.1 (signature lists).
"""

import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import pkcs7

_GLOBAL = UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c")
_IMAGE_SECURITY = UUID("d719b2cb-3d3a-4596-a3bc-dad00e67656f")
VENDORS = {"PK": _GLOBAL, "KEK": _GLOBAL, "db": _IMAGE_SECURITY}
"""The variables in which certificates are enrolled, and whose name space each is in."""

ATTRIBUTES = 0x27  # non-volatile, boot service access, run-time access, time-based authenticated write

_CERT_X509 = UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")
_CERT_TYPE_PKCS7 = UUID("4aafd29d-68df-49ee-8aa9-347d375665a7")
_SIGNED_DATA_OID = bytes.fromhex("06092a864886f70d010702")
_WIN_CERT_REVISION, _WIN_CERT_TYPE_EFI_GUID = 0x0200, 0x0EF1


@dataclass(frozen=True, slots=True)
class Signer:
    """Who may change a variable."""

    key: RSAPrivateKey
    certificate: x509.Certificate


def signature_list(certificate: x509.Certificate, owner: UUID) -> bytes:
    """Return an EFI_SIGNATURE_LIST of one certificate: a .esl file. `owner` names who enrolled it."""
    encoded = certificate.public_bytes(serialization.Encoding.DER)
    entry = owner.bytes_le + encoded
    return _CERT_X509.bytes_le + struct.pack("<III", 28 + len(entry), 0, len(entry)) + entry


def signed_update(name: str, content: bytes, signer: Signer, at: datetime) -> bytes:
    """Return the authenticated update that sets a variable: a .auth file.

    `at` becomes the time of the variable; firmware refuses a later update that is not newer. An update of PK is signed
    with PK itself.
    """
    stamp = timestamp(at)
    signed = name.encode("utf-16-le") + VENDORS[name].bytes_le + struct.pack("<I", ATTRIBUTES) + stamp + content
    signature = (
        pkcs7.PKCS7SignatureBuilder()
        .set_data(signed)
        .add_signer(signer.certificate, signer.key, hashes.SHA256())
        .sign(
            serialization.Encoding.DER,
            [pkcs7.PKCS7Options.Binary, pkcs7.PKCS7Options.DetachedSignature, pkcs7.PKCS7Options.NoAttributes],
        )
    )
    signature = _signed_data(signature)
    head = struct.pack("<IHH", 24 + len(signature), _WIN_CERT_REVISION, _WIN_CERT_TYPE_EFI_GUID)
    return stamp + head + _CERT_TYPE_PKCS7.bytes_le + signature + content


def _signed_data(content_info: bytes) -> bytes:
    """The SignedData alone: firmware of before UEFI 2.9 looks for its digest algorithm at a fixed place in it."""
    head, start = content_info[4:15], 19
    if content_info[:2] != b"\x30\x82" or head != _SIGNED_DATA_OID or content_info[15:17] != b"\xa0\x82":
        raise ValueError("the PKCS #7 message does not begin as one with a signature of 256 bytes or more does")
    return content_info[start:]


def timestamp(at: datetime) -> bytes:
    """Return an EFI_TIME in UTC, with all that is below a second zero as the specification asks."""
    moment = at.astimezone(UTC)
    return struct.pack(
        "<HBBBBBxIhBx", moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, 0, 0, 0
    )
