"""ComponentIntegrity: signed measurements of roots of trust, their certificates and what they run."""

import base64
import binascii
import secrets
from typing import Any

from emulator.machine.attestation import chain, public_key, signed_measurements
from emulator.machine.machine import Machine
from emulator.redfish.certificate_document import describe
from emulator.redfish.errors import RedfishError, action_value, not_found, wrong_type
from emulator.redfish.http import Request, Response, ok
from emulator.redfish.router import Route
from emulator.tree.component_integrity import CHAIN, INTEGRITY, VERSION, RootOfTrust, roots_of_trust
from emulator.tree.document import Document, link
from emulator.tree.places import CHASSIS

_KIND = "Certificate.v1_6_0.Certificate"
_ACTION = "ComponentIntegrity.SPDMGetSignedMeasurements"
_NONCE_BYTES = 32


def show_component(machine: Machine, document: Document) -> None:
    """FirmwareVersion of a TrustedComponent."""
    root = _by_path(machine).get(document.get("@odata.id", ""))
    if root and "FirmwareVersion" in document:
        document["FirmwareVersion"] = machine.board.version(root.slot)


async def get_certificate(request: Request) -> Response:
    """The certificate chain of a root of trust."""
    machine = request.machine
    root = _by_path(machine).get(request.path.removesuffix(f"/Certificates/{CHAIN}"))
    if root is None or request.path != root.certificate:
        raise not_found(request.path)
    document = describe(chain(machine.board.uuid, root.id), ("Device",))
    shown = {"Id": CHAIN, "Name": f"{root.id} Certificate Chain", **document, "SPDM": {"SlotId": 0}}
    return ok(_KIND, request.path, shown)


async def get_signed_measurements(request: Request) -> Response:
    """ComponentIntegrity.SPDMGetSignedMeasurements: what it and what it protects run, signed with the nonce."""
    machine = request.machine
    roots = {root.id: root for root in roots_of_trust(machine.board.persona)}
    root = roots.get(request.parameters[0])
    if root is None:
        raise not_found(request.path)
    body = request.json(("MeasurementIndices", "Nonce", "SlotId"))
    nonce = _nonce(body.get("Nonce"))
    slot = body.get("SlotId", 0)
    if not isinstance(slot, int) or isinstance(slot, bool):
        raise wrong_type(slot, "SlotId")
    if slot != 0:
        raise action_value(slot, "SlotId", _ACTION)
    whose = (machine.board.uuid, root.id)
    measured = signed_measurements(whose, nonce, slot, _measured(machine, root, body.get("MeasurementIndices")))
    answer = {
        "SignedMeasurements": base64.b64encode(measured).decode(),
        "PublicKey": public_key(*whose),
        "SigningAlgorithm": "TPM_ALG_ECDSA_ECC_NIST_P384",
        "HashingAlgorithm": "TPM_ALG_SHA_384",
        "Version": VERSION,
        "Certificate": link(root.certificate),
    }
    return Response(200, answer)


def _by_path(machine: Machine) -> dict[str, RootOfTrust]:
    return {root.path: root for root in roots_of_trust(machine.board.persona)}


def _nonce(given: Any) -> bytes:
    if given is None:
        return secrets.token_bytes(_NONCE_BYTES)
    if not isinstance(given, str):
        raise wrong_type(given, "Nonce")
    try:
        nonce = binascii.unhexlify(given)
    except (binascii.Error, ValueError):
        nonce = b""
    if len(nonce) != _NONCE_BYTES:
        text = f"The value for the parameter Nonce in the action {_ACTION} must be 64 hexadecimal digits."
        raise RedfishError(400, "ActionParameterValueFormatError", text, given, "Nonce", _ACTION)
    return nonce


def _measured(machine: Machine, root: RootOfTrust, indices: Any) -> list[tuple[int, str]]:
    """The firmware of the root of trust, then that of what it protects; `indices` chooses, 255 means all."""
    slots = machine.board.persona.slots
    protected = root.slot.replace("ERoT_", "").replace("IRoT_", "")
    keys = [root.slot, *([protected] if protected in slots and protected != root.slot else [])]
    found = [(index, f"{key} {machine.board.version(key)}") for index, key in enumerate(keys, 1)]
    if indices is None:
        return found
    if not isinstance(indices, list) or not all(isinstance(one, int) for one in indices):
        raise wrong_type(indices, "MeasurementIndices")
    if 255 in indices:
        return found
    chosen = [one for one in found if one[0] in indices]
    if not chosen:
        raise action_value(indices, "MeasurementIndices", _ACTION)
    return chosen


ROUTES = (
    Route(f"{CHASSIS}/{{}}/Certificates/{{}}", get=get_certificate, lasting=True),
    Route(f"{CHASSIS}/{{}}/TrustedComponents/{{}}/Certificates/{{}}", get=get_certificate, lasting=True),
    Route(f"{INTEGRITY}/{{}}/Actions/{_ACTION}", post=get_signed_measurements),
)
