"""Files with the outside of a kernel module, and keys that sign them."""

import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from images.boot_program.signing import SigningPair

ABI = "6.1.0-57-amd64"
VERMAGIC = f"{ABI} SMP preempt mod_unload modversions "
_HEADER_BYTES, _ENTRY_BYTES = 64, 64


def module(name: str, *lines: str, vermagic: str = VERMAGIC) -> bytes:
    """Return a relocatable ELF file whose .modinfo holds the lines, a name and a vermagic."""
    said = (*lines, f"name={name}", f"vermagic={vermagic}")
    return elf({".modinfo": b"".join(line.encode() + b"\0" for line in said), ".text": b"\xc3" * 64})


def elf(sections: dict[str, bytes]) -> bytes:
    """Return a relocatable x86-64 ELF file of these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    at, table, body = _HEADER_BYTES, [bytes(_ENTRY_BYTES)], b""
    for name, content in (*sections.items(), (".shstrtab", names)):
        where = names.index(b"\0" + name.encode() + b"\0") + 1
        table.append(struct.pack("<IIQQQQIIQQ", where, 1, 0, 0, at + len(body), len(content), 0, 0, 1, 0))
        body += content
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    counts = (_HEADER_BYTES, 0, 0, _ENTRY_BYTES, len(table), len(table) - 1)
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, 1, 62, 1, 0, 0, at + len(body), 0, *counts)
    return header + body + b"".join(table)


def signing_pair(folder: Path, name: str = "site") -> SigningPair:
    """Write an RSA key and its certificate."""
    key = generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{name} modules")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    built = builder.not_valid_before(now).not_valid_after(now + timedelta(days=30)).sign(key, SHA256())
    pair = SigningPair(folder / f"{name}.key", folder / f"{name}.crt")
    pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    pair.certificate.write_bytes(built.public_bytes(Encoding.PEM))
    return pair
