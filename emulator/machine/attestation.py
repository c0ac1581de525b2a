"""Roots of trust: each has a key of its own, a certificate chain and signed measurements (DSP0274, SPDM 1.1)."""

import datetime as dt
import hashlib
import secrets
from collections.abc import Sequence
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

_MADE = dt.datetime(2023, 1, 1, tzinfo=dt.UTC)
_VALID = dt.timedelta(days=36500)
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
_VERSION = 0x11
_GET_MEASUREMENTS, _MEASUREMENTS = 0xE0, 0x60
_SIGNED, _ALL = 0x01, 0xFF
_HALF = 48  # bytes of one number of a P-384 signature
_VENDOR = "Emulated Roots of Trust CA"


def chain(machine: str, component: str) -> str:
    """The certificates of a component as PEM, its own first; the same for the same machine (its UUID)."""
    return _chain(machine, component)


def public_key(machine: str, component: str) -> str:
    """Its public key as PEM."""
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return _key(f"{machine} {component}").public_key().public_bytes(encoding, form).decode()


def signed_measurements(key_of: tuple[str, str], nonce: bytes, slot: int, measured: Sequence[tuple[int, str]]) -> bytes:
    """The request with its nonce, the answer with the measurements (index, what runs), and the signature."""
    request = bytes([_VERSION, _GET_MEASUREMENTS, _SIGNED, _ALL]) + nonce + bytes([slot])
    record = b"".join(_block(index, what) for index, what in measured)
    head = bytes([_VERSION, _MEASUREMENTS, 0, slot, len(measured)]) + len(record).to_bytes(3, "little")
    transcript = request + head + record + secrets.token_bytes(32) + (0).to_bytes(2, "little")
    signature = _key(" ".join(key_of)).sign(transcript, ec.ECDSA(hashes.SHA384()))
    return transcript + b"".join(part.to_bytes(_HALF, "big") for part in utils.decode_dss_signature(signature))


def _block(index: int, what: str) -> bytes:
    """A measurement block: DMTF specification, type immutable ROM or firmware, SHA-384."""
    digest = hashlib.sha384(what.encode()).digest()
    measurement = bytes([min(index - 1, 1)]) + len(digest).to_bytes(2, "little") + digest
    return bytes([index, 0x01]) + len(measurement).to_bytes(2, "little") + measurement


def _key(name: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(hashlib.sha512(f"root of trust {name}".encode()).digest())
    return ec.derive_private_key(number % (_ORDER - 1) + 1, ec.SECP384R1())


@lru_cache(256)
def _chain(machine: str, component: str) -> str:
    vendor = _key(_VENDOR)
    own = _certificate(component, _key(f"{machine} {component}").public_key(), vendor, f"{machine} {component}")
    return own + _certificate(_VENDOR, vendor.public_key(), vendor, _VENDOR)


def _certificate(subject: str, key: ec.EllipticCurvePublicKey, issuer: ec.EllipticCurvePrivateKey, name: str) -> str:
    serial = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16]) | 1
    built = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _VENDOR)]))
        .public_key(key)
        .serial_number(serial)
        .not_valid_before(_MADE)
        .not_valid_after(_MADE + _VALID)
        .add_extension(x509.BasicConstraints(ca=subject == _VENDOR, path_length=None), critical=True)
        .sign(issuer, hashes.SHA384(), ecdsa_deterministic=True)
    )
    return built.public_bytes(serialization.Encoding.PEM).decode()
