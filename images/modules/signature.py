"""The signature at the end of a kernel module: PKCS#7 over all before it, as the kernel's own sign-file writes it.

Documentation/admin-guide/module-signing.rst; include/linux/module_signature.h; scripts/sign-file.c.
"""

import struct
from dataclasses import dataclass

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512, HashAlgorithm

from images.modules.der import (
    CHOICE_0,
    NULL,
    OBJECT_ID,
    OCTETS,
    SEQUENCE,
    SET,
    DerError,
    Value,
    encoded,
    values,
    whole_number,
)
from images.modules.errors import ModuleUnreadableError
from images.modules.key import ModuleKey

MARK = b"~Module signature appended~\n"
_TRAILER = struct.Struct(">BBBBB3xI")
_PKCS7 = 2
_SIGNED_DATA, _DATA = bytes.fromhex("2a864886f70d010702"), bytes.fromhex("2a864886f70d010701")
_RSA, _SHA256 = bytes.fromhex("2a864886f70d010101"), bytes.fromhex("608648016503040201")
_HASHES: dict[bytes, tuple[str, HashAlgorithm]] = {
    _SHA256: ("sha256", SHA256()),
    bytes.fromhex("608648016503040202"): ("sha384", SHA384()),
    bytes.fromhex("608648016503040203"): ("sha512", SHA512()),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """`signer`: issuer and serial number of the certificate in DER, or the identifier of its key. `hash`: its name."""

    signer: bytes
    hash: str
    algorithm: HashAlgorithm
    value: bytes


def sign_module(content: bytes, key: ModuleKey) -> bytes:
    """Return the module with a signature in place of one that it may have. Equal input, equal bytes."""
    bare, _ = split_signature(content)
    message = _message(key.certificate, key.key.sign(bare, PKCS1v15(), SHA256()))
    return bare + message + _TRAILER.pack(0, 0, _PKCS7, 0, 0, len(message)) + MARK


def split_signature(content: bytes) -> tuple[bytes, bytes | None]:
    """Return the module and its PKCS#7 signature, None where it has none; raises ModuleUnreadableError."""
    if not content.endswith(MARK):
        return content, None
    end = len(content) - len(MARK) - _TRAILER.size
    if end < 0:
        raise ModuleUnreadableError("ends like a signed module and is shorter than a signature")
    *_, kind, signer_bytes, key_bytes, size = _TRAILER.unpack_from(content, end)
    if kind != _PKCS7 or signer_bytes or key_bytes or not 0 < size <= end:
        raise ModuleUnreadableError("has a signature that is no PKCS#7 message")
    return content[: end - size], content[end - size : end]


def read_signature(message: bytes) -> Signature:
    """Read the one signature of a PKCS#7 message; raises ModuleUnreadableError for another kind of message."""
    try:
        return _signature(message)
    except (DerError, ValueError, IndexError) as error:
        raise ModuleUnreadableError(f"has a signature that cannot be read: {error}") from error


def is_signed_by(content: bytes, certificate: x509.Certificate) -> bool:
    """Say whether the key of the certificate signed exactly these bytes; raises ModuleUnreadableError."""
    bare, message = split_signature(content)
    public = certificate.public_key()
    if message is None or not isinstance(public, RSAPublicKey):
        return False
    signature = read_signature(message)
    if signature.signer != _issuer_and_serial(certificate):
        return False
    try:
        public.verify(signature.value, bare, PKCS1v15(), signature.algorithm)
    except InvalidSignature:
        return False
    return True


def signer_name(message: bytes) -> str:
    """Return the issuer of the signer's certificate for people; the key's identifier where that is all there is."""
    signer = read_signature(message).signer
    return signer.hex()[:40] if signer[0] != SEQUENCE else _issuer_text(signer)


def _signature(message: bytes) -> Signature:
    """ContentInfo { type, [0] SignedData { version, digests, content, [0] certificates, signers } } (RFC 2315)."""
    (content_info,) = values(message)
    signed_data = content_info.parts()[1].parts()[0].parts()
    (signer,) = next(one for one in reversed(signed_data) if one.tag == SET).parts()
    _, identity, digest, *rest = signer.parts()
    if rest[0].tag == CHOICE_0:
        raise DerError("it signs attributes, and not the module alone")
    name, algorithm = _HASHES[_object_id(digest)] if _object_id(digest) in _HASHES else _unknown_hash(digest)
    return Signature(identity.whole if identity.tag == SEQUENCE else identity.content, name, algorithm, rest[1].content)


def _object_id(algorithm: Value) -> bytes:
    return algorithm.parts()[0].content


def _unknown_hash(algorithm: Value) -> tuple[str, HashAlgorithm]:
    raise DerError(f"its hash is none of sha256, sha384 and sha512 (object identifier {_object_id(algorithm).hex()})")


def _issuer_and_serial(certificate: x509.Certificate) -> bytes:
    return encoded(SEQUENCE, certificate.issuer.public_bytes(), whole_number(certificate.serial_number))


def _message(certificate: x509.Certificate, signature: bytes) -> bytes:
    """Without the certificate, which the kernel has, and without attributes: there is no time in it."""
    digest = encoded(SEQUENCE, encoded(OBJECT_ID, _SHA256))
    rsa = encoded(SEQUENCE, encoded(OBJECT_ID, _RSA), encoded(NULL))
    version, identity = whole_number(1), _issuer_and_serial(certificate)
    signer = encoded(SEQUENCE, version, identity, digest, rsa, encoded(OCTETS, signature))
    nothing = encoded(SEQUENCE, encoded(OBJECT_ID, _DATA))
    signed = encoded(SEQUENCE, version, encoded(SET, digest), nothing, encoded(SET, signer))
    return encoded(SEQUENCE, encoded(OBJECT_ID, _SIGNED_DATA), encoded(CHOICE_0, signed))


def _issuer_text(signer: bytes) -> str:
    (whole,) = values(signer)
    texts = [
        attribute.parts()[1].content.decode("utf-8", "replace")
        for relative in whole.parts()[0].parts()
        for attribute in relative.parts()
    ]
    return ", ".join(texts)
