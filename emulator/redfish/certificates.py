"""CertificateService: the certificate that the BMC serves, requests for another one, and putting it in its place."""

import asyncio
import re
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from emulator.machine.machine import Machine
from emulator.redfish.certificate_document import describe
from emulator.redfish.certificate_request import make_key, make_request
from emulator.redfish.errors import RedfishError, action_value, missing, not_found, wrong_type
from emulator.redfish.http import Request, Response, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.certificates import HTTPS, SERVICE, https_path
from emulator.tree.document import link
from emulator.tree.places import MANAGERS

_KIND = "Certificate.v1_6_0.Certificate"
_REPLACE = "CertificateService.ReplaceCertificate"
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)


async def get_https_certificate(request: Request) -> Response:
    """The certificate that this very connection shows, unless it was replaced since it began."""
    machine = request.machine
    if request.path != f"{https_path(machine.board.persona)}/{HTTPS}" or not _there(machine):
        raise not_found(request.path)
    pem = _PRIVATE.sub("", machine.read_certificate().decode()).lstrip()
    document = describe(pem, ("Web",))
    return ok(_KIND, request.path, {"Id": HTTPS, "Name": "HTTPS Certificate", **document})


async def generate_request(request: Request) -> Response:
    """CertificateService.GenerateCSR: a new key that stays here, and the request for its certificate."""
    machine = request.machine
    body = request.json()
    path = https_path(machine.board.persona)
    if not _there(machine):
        raise not_found(request.path)
    if "CertificateCollection" not in body:
        raise missing("CertificateCollection")
    if _reference(body["CertificateCollection"], "CertificateCollection") != path:
        raise action_value(body["CertificateCollection"], "CertificateCollection", "CertificateService.GenerateCSR")
    key = await asyncio.to_thread(make_key, body)
    csr = make_request(key, body)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    machine.board.state.csr_key = key.private_bytes(encoding, form, serialization.NoEncryption()).decode()
    machine.board.save()
    return Response(200, {"CSRString": csr, "CertificateCollection": link(path)})


async def replace(request: Request) -> Response:
    """CertificateService.ReplaceCertificate: served from the next handshake on; one that does not fit is refused."""
    machine = request.machine
    if not _there(machine):
        raise not_found(request.path)
    body = request.json(("CertificateString", "CertificateType", "CertificateUri", "Password"))
    if "CertificateUri" not in body:
        raise missing("CertificateUri")
    path = f"{https_path(machine.board.persona)}/{HTTPS}"
    if _reference(body["CertificateUri"], "CertificateUri") != path:
        raise action_value(body["CertificateUri"], "CertificateUri", _REPLACE)
    if request.text(body, "CertificateType") not in ("PEM", "PEMchain"):
        raise action_value(body["CertificateType"], "CertificateType", _REPLACE)
    _install(machine, request.text(body, "CertificateString"))
    machine.events.publish("OpenBMC.CertificateReplaced", path, origin=path, topic="bmc")
    response = no_content()
    response.headers = {"Location": path}
    return response


def _install(machine: Machine, text: str) -> None:
    """Serve the certificate with the key that belongs to it: the one given with it, of the request, or of now."""
    try:
        certificates = x509.load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise _refused("is no certificate in PEM") from error
    wanted = _public(certificates[0].public_key())
    keys = (text, machine.board.state.csr_key, machine.read_certificate().decode())
    for pem in keys:
        key = _key(pem)
        if key and _public(serialization.load_pem_private_key(key.encode(), None).public_key()) == wanted:
            chain = "".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in certificates)
            _serve(machine, key + chain)
            machine.board.state.csr_key = ""
            machine.board.save()
            return
    raise _refused("belongs to a key that is not here")


def _serve(machine: Machine, pem: str) -> None:
    try:
        machine.replace_certificate(pem.encode())
    except ssl.SSLError as error:
        raise _refused("cannot be served") from error


def _key(pem: str) -> str:
    """The private key in a PEM text, empty when there is none that can be read."""
    found = _PRIVATE.search(pem)
    if found is None:
        return ""
    key = found[0] + "\n"
    try:
        serialization.load_pem_private_key(key.encode(), None)
    except (ValueError, TypeError):
        return ""
    return key


def _public(key: object) -> bytes:
    return key.public_bytes(  # type: ignore[attr-defined, no-any-return]  # every kind of public key has it
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _refused(why: str) -> RedfishError:
    text = f"The value for the parameter CertificateString in the action {_REPLACE} {why}."
    return RedfishError(400, "ActionParameterValueError", text, "CertificateString", _REPLACE)


def _reference(value: object, name: str) -> str:
    """The path of a reference; some clients send it as text."""
    path = value.get("@odata.id") if isinstance(value, dict) else value
    if not isinstance(path, str):
        raise wrong_type(value, name)
    return path.rstrip("/")


def _there(machine: Machine) -> bool:
    return machine.board.persona.services.certificates


ROUTES = (
    Route(f"{MANAGERS}/{{}}/NetworkProtocol/HTTPS/Certificates/{{}}", get=get_https_certificate, lasting=True),
    Route(f"{SERVICE}/Actions/CertificateService.GenerateCSR", post=generate_request),
    Route(f"{SERVICE}/Actions/{_REPLACE}", post=replace),
)
