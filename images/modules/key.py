"""The site's key for kernel modules: RSA with a certificate that the firmware's db, or shim's list, holds too."""

from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from images.boot_program.signing import SigningPair
from images.modules.errors import SigningKeyError

_REMEDY = "`firstlight boot keys` makes keys and certificates"


@dataclass(frozen=True, slots=True, repr=False)
class ModuleKey:
    """What signs; its repr shows nothing of it."""

    key: RSAPrivateKey
    certificate: x509.Certificate


def load_key(pair: SigningPair) -> ModuleKey:
    """Read both files; raises SigningKeyError with what is wrong."""
    certificate = load_certificate(pair.certificate)
    try:
        key = load_pem_private_key(_content(pair.key), None)
    except (ValueError, TypeError) as error:  # the library's own words may quote the file
        raise SigningKeyError(f"{pair.key}: no private key in PEM without a passphrase; {_REMEDY}") from error
    if not isinstance(key, RSAPrivateKey):
        raise SigningKeyError(f"{pair.key}: is no RSA key, which firmware and kernels agree on; {_REMEDY}")
    if key.public_key() != certificate.public_key():
        raise SigningKeyError(f"{pair.key}: is not the key of {pair.certificate}; correct one of the two paths")
    return ModuleKey(key, certificate)


def load_certificate(path: Path) -> x509.Certificate:
    """Read a certificate (PEM) with an RSA key; raises SigningKeyError."""
    try:
        certificate = x509.load_pem_x509_certificate(_content(path))
    except ValueError as error:
        raise SigningKeyError(f"{path}: no certificate in PEM: {error}; {_REMEDY}") from error
    if not isinstance(certificate.public_key(), RSAPublicKey):
        raise SigningKeyError(f"{path}: holds no RSA key, which firmware and kernels agree on; {_REMEDY}")
    return certificate


def certificate_pem(path: Path) -> str:
    """Return a certificate as a lock keeps it: PEM with nothing around it."""
    return load_certificate(path).public_bytes(Encoding.PEM).decode()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SigningKeyError(f"{path}: {error.strerror}; {_REMEDY}") from error
