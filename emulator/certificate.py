"""The self-signed certificate of each BMC, made once and kept with its state."""

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_MADE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
_VALID = dt.timedelta(days=3650)


def tls_context(directory: Path, name: str, address: str) -> ssl.SSLContext:
    """The TLS context of the BMC that keeps its state in `directory`."""
    path = directory / "bmc.pem"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(_make(name, address))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.num_tickets = 0
    return context


def _make(name: str, address: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_MADE)
        .not_valid_after(_MADE + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
