"""CertificateService and the collections of certificates; the certificates come from redfish/certificates.py."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import component_integrity, places
from emulator.tree.document import ROOT, Document, Entry, action, collection, resource
from emulator.tree.document import link as to
from emulator.tree.document import links as to_all

SERVICE = f"{ROOT}/CertificateService"
HTTPS = "1"
_CSR_INFO = f"{SERVICE}/GenerateCSRActionInfo"
_REPLACE_INFO = f"{SERVICE}/ReplaceCertificateActionInfo"
ALGORITHMS = ("TPM_ALG_RSA", "TPM_ALG_ECDH")
CURVES = ("TPM_ECC_NIST_P256", "TPM_ECC_NIST_P384")
_TEXTS = ("CommonName", "Organization", "OrganizationalUnit", "City", "State", "Country", "Email")


def build(persona: Persona) -> Iterator[Entry]:
    """The service, its locations and what its actions take."""
    if not persona.services.certificates:
        return
    properties: Document = {"CertificateLocations": to(f"{SERVICE}/CertificateLocations"), "Actions": _actions()}
    yield resource(SERVICE, "CertificateService.v1_0_4.CertificateService", "Certificate Service", properties)
    own = https_path(persona)
    found = [f"{own}/{HTTPS}", *component_integrity.certificates(persona)]
    locations: Document = {"Links": {"Certificates": to_all(found)}}
    path = f"{SERVICE}/CertificateLocations"
    yield resource(path, "CertificateLocations.v1_0_2.CertificateLocations", "Certificate Locations", locations)
    yield collection(own, "CertificateCollection", "HTTPS Certificate Collection", [HTTPS])
    yield from _parameters()


def links(persona: Persona) -> Iterator[Entry]:
    """What the network protocols of the BMC link to."""
    if persona.services.certificates:
        own = https_path(persona)
        yield own.rsplit("/", 2)[0], {"HTTPS": {"Certificates": to(own)}}


def https_path(persona: Persona) -> str:
    """Where the certificates of the BMC's own web server are."""
    return f"{places.bmc(persona)}/NetworkProtocol/HTTPS/Certificates"


def _actions() -> Document:
    actions = action(SERVICE, "CertificateService.GenerateCSR") | action(
        SERVICE, "CertificateService.ReplaceCertificate"
    )
    actions["#CertificateService.GenerateCSR"]["@Redfish.ActionInfo"] = _CSR_INFO
    actions["#CertificateService.ReplaceCertificate"]["@Redfish.ActionInfo"] = _REPLACE_INFO
    return actions


def _parameters() -> Iterator[Entry]:
    texts = [_parameter(name, required=name != "Email") for name in _TEXTS]
    choices = [
        _parameter("KeyPairAlgorithm", allowable=ALGORITHMS),
        _parameter("KeyCurveId", allowable=CURVES),
    ]
    other = [
        {"Name": "CertificateCollection", "Required": True, "DataType": "Object"},
        {"Name": "AlternativeNames", "Required": False, "DataType": "StringArray"},
        {"Name": "KeyBitLength", "Required": False, "DataType": "Number"},
    ]
    kind = "ActionInfo.v1_1_2.ActionInfo"
    yield resource(_CSR_INFO, kind, "Generate CSR Action Info", {"Parameters": [*texts, *choices, *other]})
    replace = [
        {"Name": "CertificateUri", "Required": True, "DataType": "Object"},
        _parameter("CertificateString", required=True),
        _parameter("CertificateType", required=True, allowable=("PEM", "PEMchain")),
    ]
    yield resource(_REPLACE_INFO, kind, "Replace Certificate Action Info", {"Parameters": replace})


def _parameter(name: str, *, required: bool = False, allowable: tuple[str, ...] = ()) -> Document:
    values = {"AllowableValues": list(allowable)} if allowable else {}
    return {"Name": name, "Required": required, "DataType": "String", **values}
