"""SecureBoot and its databases of keys. UEFI 2.10, 32.3; DSP0268, SecureBootDatabase."""

import hashlib
from collections.abc import Iterator
from typing import Any

from cryptography import x509

from emulator.persona.persona import Persona
from emulator.persona.secure_boot import DATABASES
from emulator.tree import places
from emulator.tree.document import Document, Entry, action, collection, link, resource
from emulator.tree.factory_keys import KEY_EXCHANGE_KEY, PLATFORM_KEY, SIGNATURE_AUTHORITY

CERTIFICATE = "Certificate.v1_7_0.Certificate"
SIGNATURE = "Signature.v1_0_2.Signature"
RESETS = ("ResetAllKeysToDefault", "DeleteAllKeys")
_OWNER = "d2a3f6a1-0b1c-4a57-9d3e-5e0f5c2b7a11"
_CERTIFICATES = {"PK": (PLATFORM_KEY,), "KEK": (KEY_EXCHANGE_KEY,), "db": (SIGNATURE_AUTHORITY,), "dbx": ()}
_REVOKED = tuple(hashlib.sha256(f"revoked loader {number}".encode()).hexdigest().upper() for number in range(4))


def build(persona: Persona) -> Iterator[Entry]:
    """The resource, its databases and what is in them; redfish/secure_boot.py shows what clients changed."""
    policy = persona.secure_boot
    path = f"{places.host(persona)}/SecureBoot"
    databases = f"{path}/SecureBootDatabases"
    resets = (*RESETS, "DeletePK") if policy.reset_keys else ()
    properties: Document = {
        "SecureBootEnable": False,
        "SecureBootCurrentBoot": "Disabled",
        "SecureBootMode": "UserMode" if policy.factory_keys else "SetupMode",
        **({"SecureBootDatabases": link(databases)} if policy.databases else {}),
        **({"Actions": action(path, "SecureBoot.ResetKeys", ResetKeysType=resets)} if resets else {}),
    }
    yield resource(path, "SecureBoot.v1_1_0.SecureBoot", "UEFI Secure Boot", properties)
    if policy.databases:
        defaults = tuple(f"{name}Default" for name in DATABASES) if policy.defaults else ()
        names = (*DATABASES, *defaults)
        yield collection(databases, "SecureBootDatabaseCollection", "UEFI Secure Boot Databases", names)
        for name in names:
            yield from _database(databases, name, filled=policy.factory_keys or name.endswith("Default"))


def described(pem: str) -> dict[str, Any]:
    """What a Certificate says of a certificate in PEM. Raises ValueError for what is none."""
    certificate = x509.load_pem_x509_certificate(pem.encode())
    return {
        "CertificateString": pem,
        "CertificateType": "PEM",
        "CertificateUsageTypes": ["BIOS"],
        "Subject": _names(certificate.subject),
        "Issuer": _names(certificate.issuer),
        "ValidNotBefore": certificate.not_valid_before_utc.isoformat(),
        "ValidNotAfter": certificate.not_valid_after_utc.isoformat(),
        "UefiSignatureOwner": _OWNER,
    }


def _database(databases: str, name: str, *, filled: bool) -> Iterator[Entry]:
    path, kind = f"{databases}/{name}", name.removesuffix("Default")
    actions = {} if name.endswith("Default") else action(path, "SecureBootDatabase.ResetKeys", ResetKeysType=RESETS)
    properties = {
        "DatabaseId": name,
        "Certificates": link(f"{path}/Certificates"),
        "Signatures": link(f"{path}/Signatures"),
        **({"Actions": actions} if actions else {}),
    }
    yield resource(path, "SecureBootDatabase.v1_0_1.SecureBootDatabase", f"UEFI {name} Database", properties)
    certificates = _CERTIFICATES[kind] if filled else ()
    signatures = _REVOKED if filled and kind == "dbx" else ()
    yield _collection(path, "Certificates", "CertificateCollection", len(certificates))
    for number, pem in enumerate(certificates, 1):
        yield resource(f"{path}/Certificates/{number}", CERTIFICATE, f"{name} Certificate", described(pem))
    yield _collection(path, "Signatures", "SignatureCollection", len(signatures))
    for number, digest in enumerate(signatures, 1):
        yield resource(f"{path}/Signatures/{number}", SIGNATURE, f"{name} Signature", _signature(digest))


def _collection(path: str, part: str, kind: str, count: int) -> Entry:
    return collection(f"{path}/{part}", kind, f"{part} Collection", [str(number) for number in range(1, count + 1)])


def _signature(digest: str) -> dict[str, str]:
    return {
        "SignatureString": digest,
        "SignatureType": "EFI_CERT_SHA256_GUID",
        "SignatureTypeRegistry": "UEFI",
        "UefiSignatureOwner": _OWNER,
    }


def _names(name: x509.Name) -> dict[str, str]:
    wanted = {
        "CommonName": x509.NameOID.COMMON_NAME,
        "Organization": x509.NameOID.ORGANIZATION_NAME,
        "OrganizationalUnit": x509.NameOID.ORGANIZATIONAL_UNIT_NAME,
        "City": x509.NameOID.LOCALITY_NAME,
        "State": x509.NameOID.STATE_OR_PROVINCE_NAME,
        "Country": x509.NameOID.COUNTRY_NAME,
    }
    found = {key: name.get_attributes_for_oid(oid) for key, oid in wanted.items()}
    return {key: str(values[0].value) for key, values in found.items() if values}
