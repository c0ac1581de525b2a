"""Certificate signing requests as GenerateCSR describes them (DSP0268, CertificateService)."""

from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from emulator.redfish.errors import action_value, missing, wrong_type
from emulator.tree.certificates import ALGORITHMS, CURVES

_ACTION = "CertificateService.GenerateCSR"
_NAMES = {
    "CommonName": NameOID.COMMON_NAME,
    "Organization": NameOID.ORGANIZATION_NAME,
    "OrganizationalUnit": NameOID.ORGANIZATIONAL_UNIT_NAME,
    "City": NameOID.LOCALITY_NAME,
    "State": NameOID.STATE_OR_PROVINCE_NAME,
    "Country": NameOID.COUNTRY_NAME,
    "Email": NameOID.EMAIL_ADDRESS,
}
_BITS = (2048, 3072, 4096)

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def make_key(wanted: Mapping[str, Any]) -> Key:
    """A new key of the wanted algorithm, an elliptic one unless told otherwise. Raises RedfishError 400."""
    algorithm = wanted.get("KeyPairAlgorithm", "TPM_ALG_ECDH")
    if algorithm not in (*ALGORITHMS, "TPM_ALG_ECDSA"):
        raise action_value(algorithm, "KeyPairAlgorithm", _ACTION)
    if algorithm == "TPM_ALG_RSA":
        bits = wanted.get("KeyBitLength", _BITS[0])
        if bits not in _BITS:
            raise action_value(bits, "KeyBitLength", _ACTION)
        return rsa.generate_private_key(65537, bits)
    curve = wanted.get("KeyCurveId", CURVES[0])
    if curve not in CURVES:
        raise action_value(curve, "KeyCurveId", _ACTION)
    return ec.generate_private_key(ec.SECP256R1() if curve == CURVES[0] else ec.SECP384R1())


def make_request(key: Key, wanted: Mapping[str, Any]) -> str:
    """The request as PEM. Raises RedfishError 400 for a name that is missing or cannot be one."""
    if "CommonName" not in wanted:
        raise missing("CommonName")
    names = [_attribute(name, oid, wanted[name]) for name, oid in _NAMES.items() if wanted.get(name) is not None]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names))
    others = wanted.get("AlternativeNames") or []
    if not isinstance(others, list) or not all(isinstance(one, str) and one.isascii() for one in others):
        raise wrong_type(others, "AlternativeNames")
    if others:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(one) for one in others])
        builder = builder.add_extension(alternatives, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def _attribute(name: str, oid: x509.ObjectIdentifier, value: Any) -> x509.NameAttribute[str]:
    if not isinstance(value, str):
        raise wrong_type(value, name)
    try:
        return x509.NameAttribute(oid, value)
    except ValueError as error:
        raise action_value(value, name, _ACTION) from error
