"""A certificate as Certificate shows it (DSP0268)."""

from collections.abc import Mapping, Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from emulator.tree.document import Document

_NAMES: Mapping[x509.ObjectIdentifier, str] = {
    NameOID.COMMON_NAME: "CommonName",
    NameOID.ORGANIZATION_NAME: "Organization",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OrganizationalUnit",
    NameOID.LOCALITY_NAME: "City",
    NameOID.STATE_OR_PROVINCE_NAME: "State",
    NameOID.COUNTRY_NAME: "Country",
    NameOID.EMAIL_ADDRESS: "Email",
}
_USAGES = {
    "digital_signature": "DigitalSignature",
    "content_commitment": "NonRepudiation",
    "key_encipherment": "KeyEncipherment",
    "data_encipherment": "DataEncipherment",
    "key_agreement": "KeyAgreement",
    "key_cert_sign": "KeyCertSign",
    "crl_sign": "CRLSigning",
}
_EXTENDED: Mapping[x509.ObjectIdentifier, str] = {
    ExtendedKeyUsageOID.SERVER_AUTH: "ServerAuthentication",
    ExtendedKeyUsageOID.CLIENT_AUTH: "ClientAuthentication",
}
_SIGNATURES = {"1.2.840.113549.1.1.11": "sha256WithRSAEncryption", "1.2.840.10045.4.3.2": "ecdsa-with-SHA256"}
_SIGNATURES["1.2.840.10045.4.3.3"] = "ecdsa-with-SHA384"


def describe(pem: str, usages: Sequence[str]) -> Document:
    """The properties of the first certificate in `pem`; `usages`: CertificateUsageTypes."""
    certificates = x509.load_pem_x509_certificates(pem.encode())
    certificate = certificates[0]
    algorithm = certificate.signature_algorithm_oid
    return {
        "CertificateString": pem,
        "CertificateType": "PEM" if len(certificates) == 1 else "PEMchain",
        "CertificateUsageTypes": list(usages),
        "Issuer": _name(certificate.issuer),
        "Subject": _name(certificate.subject),
        "ValidNotBefore": certificate.not_valid_before_utc.isoformat(timespec="seconds"),
        "ValidNotAfter": certificate.not_valid_after_utc.isoformat(timespec="seconds"),
        "KeyUsage": _key_usage(certificate),
        "SerialNumber": _pairs(f"{certificate.serial_number:x}"),
        "Fingerprint": _pairs(certificate.fingerprint(hashes.SHA256()).hex()),
        "FingerprintHashAlgorithm": "TPM_ALG_SHA256",
        "SignatureAlgorithm": _SIGNATURES.get(algorithm.dotted_string, algorithm.dotted_string),
    }


def _name(name: x509.Name) -> Document:
    return {_NAMES[one.oid]: str(one.value) for one in name if one.oid in _NAMES}


def _key_usage(certificate: x509.Certificate) -> list[str]:
    found: list[str] = []
    usage = _extension(certificate, x509.KeyUsage)
    if usage:
        found += [shown for name, shown in _USAGES.items() if getattr(usage, name)]
    extended = _extension(certificate, x509.ExtendedKeyUsage)
    return found + [_EXTENDED[oid] for oid in extended or () if oid in _EXTENDED]


def _extension(certificate: x509.Certificate, kind: Any) -> Any:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _pairs(digits: str) -> str:
    """Hexadecimal digits in pairs with colons."""
    digits = digits.upper().zfill(len(digits) + len(digits) % 2)
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))
