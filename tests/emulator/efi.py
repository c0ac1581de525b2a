"""PE images that are just enough of one for firmware to tell them apart."""

import datetime as dt
import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs7 import PKCS7Options, PKCS7SignatureBuilder
from cryptography.x509.oid import NameOID

X86_64, ARM64 = 0x8664, 0xAA64


_AT, _CHECKSUM, _SIGNATURE = 0x80, 0x80 + 24 + 64, 0x80 + 24 + 112 + 4 * 8


@dataclass(frozen=True)
class Key:
    """A private key and its certificate."""

    private: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()


def make_key(name: str, issuer: "Key | None" = None) -> Key:
    """A key of its own, or one that another key vouches for."""
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
    )
    return Key(private, builder.sign(issuer.private if issuer else private, hashes.SHA256()))


def sign_efi(program: bytes, key: Key) -> bytes:
    """The program with a table of certificates behind it, as PE/COFF Authenticode has it."""
    aligned = program + bytes(-len(program) % 8)
    covered = aligned[:_CHECKSUM] + aligned[_CHECKSUM + 4 : _SIGNATURE] + aligned[_SIGNATURE + 8 :]
    builder = PKCS7SignatureBuilder().set_data(hashlib.sha256(covered).digest())
    builder = builder.add_signer(key.certificate, key.private, hashes.SHA256())
    message = builder.sign(Encoding.DER, [PKCS7Options.Binary])
    entry = struct.pack("<IHH", 8 + len(message), 0x0200, 2) + message
    table = entry + bytes(-len(entry) % 8)
    placed = bytearray(aligned)
    struct.pack_into("<II", placed, _SIGNATURE, len(aligned), len(table))
    return bytes(placed) + table


def build_efi(machine: int = X86_64, sections: Mapping[str, bytes] | None = None, *, trailer: bytes = b"") -> bytes:
    """A PE32+ image with these sections; `trailer` follows them."""
    parts = sections or {}
    at = _AT
    optional = bytearray(240)
    struct.pack_into("<H", optional, 0, 0x20B)
    header = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", at)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", machine, len(parts), 0, 0, 0, len(optional), 0)
    raw_at = at + len(coff) + len(optional) + 40 * len(parts)
    table, content = b"", b""
    for name, part in parts.items():
        place = raw_at + len(content)
        table += struct.pack("<8sIIIIIIHHI", name.encode(), len(part), 0, len(part), place, 0, 0, 0, 0, 0)
        content += part
    return header.ljust(at, b"\0") + coff + bytes(optional) + table + content + trailer


def build_iso(content: bytes) -> bytes:
    """An ISO 9660 volume descriptor, and `content` behind it."""
    return bytes(32768) + b"\1CD001\1" + bytes(2041) + content
