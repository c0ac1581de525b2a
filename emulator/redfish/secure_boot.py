"""SecureBoot: what is enabled, and the certificates and signatures in its databases."""

import re
from typing import Any

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, action_value, missing, not_found, not_in_list, wrong_type
from emulator.redfish.http import Request, Response, no_content, ok
from emulator.redfish.router import Route
from emulator.redfish.systems import check_host
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import SYSTEMS
from emulator.tree.secure_boot import CERTIFICATE, RESETS, SIGNATURE, described

_KINDS = {"Certificates": CERTIFICATE, "Signatures": SIGNATURE}
_PLACE = re.compile(r"/SecureBootDatabases/[^/]+/(Certificates|Signatures)$")
_SIGNATURE = ("SignatureString", "SignatureType", "SignatureTypeRegistry", "UefiSignatureOwner")


def show(machine: Machine, document: Document) -> None:
    """What is enabled, of the host only."""
    host = f"{places.host(machine.board.persona)}/".lower()
    if not str(document["@odata.id"]).lower().startswith(host):
        return
    state = machine.secure_boot
    live = {
        "SecureBootEnable": state.wanted,
        "SecureBootCurrentBoot": "Enabled" if state.current else "Disabled",
        "SecureBootMode": "UserMode" if state.has_platform_key else "SetupMode",
    }
    document.update({name: value for name, value in live.items() if name in document})


def show_entries(machine: Machine, document: Document) -> None:
    """The certificates or signatures of a database as they are now; other collections stay as they are."""
    path = str(document["@odata.id"]).rstrip("/")
    if _PLACE.search(path):
        document["Members"] = [{"@odata.id": f"{path}/{identity}"} for identity in machine.secure_boot.entries(path)]
        document["Members@odata.count"] = len(document["Members"])


def show_entry(machine: Machine, document: Document) -> None:
    """404 for a certificate or signature of a database that was removed."""
    path, _, identity = str(document["@odata.id"]).rstrip("/").rpartition("/")
    if _PLACE.search(path) and identity not in machine.secure_boot.entries(path):
        raise not_found(path)


async def change(request: Request) -> Response:
    """PATCH SecureBootEnable, for the next boot."""
    _check_there(request, request.path)
    body = request.json(("SecureBootEnable",))
    if "SecureBootEnable" not in body:
        raise missing("SecureBootEnable")
    if not isinstance(body["SecureBootEnable"], bool):
        raise wrong_type(body["SecureBootEnable"], "SecureBootEnable")
    request.machine.secure_boot.enable(body["SecureBootEnable"])
    return no_content()


async def reset_keys(request: Request) -> Response:
    """SecureBoot.ResetKeys: all databases, or the platform key alone."""
    path = request.path.rpartition("/Actions/")[0]
    document = _check_there(request, path)
    wanted = _reset_type(request, (*RESETS, "DeletePK"), "SecureBoot.ResetKeys")
    listed = document.get("SecureBootDatabases", {}).get("@odata.id", f"{path}/SecureBootDatabases")
    members = (request.machine.board.document(listed.rstrip("/")) or {}).get("Members", ())
    for database in (member["@odata.id"] for member in members):
        name = database.rpartition("/")[2]
        if not name.endswith("Default") and (wanted != "DeletePK" or name == "PK"):
            _reset(request.machine, database, wanted)
    return no_content()


async def reset_database(request: Request) -> Response:
    """SecureBootDatabase.ResetKeys: one database."""
    path = request.path.rpartition("/Actions/")[0]
    _check_there(request, path)
    if path.endswith("Default"):
        raise not_found(request.path)
    _reset(request.machine, path, _reset_type(request, RESETS, "SecureBootDatabase.ResetKeys"))
    return no_content()


async def add_entry(request: Request) -> Response:
    """POST of a certificate or of a signature."""
    _check_there(request, request.path)
    _, database, part = request.parameters
    if database.endswith("Default"):
        raise RedfishError(405, "OperationNotAllowed", "The default keys cannot be changed.")
    properties = _certificate(request) if part == "Certificates" else _signature(request)
    entries = request.machine.secure_boot.entries(request.path)
    identity = str(max((int(known) for known in entries if known.isdigit()), default=0) + 1)
    entries[identity] = {"Name": f"{database} {part[:-1]}", **properties}
    request.machine.secure_boot.keep(request.path, entries)
    created = _entry(request.path, identity, part, entries[identity])
    return Response(201, created.document, {"Location": f"{request.path}/{identity}"})


async def get_entry(request: Request) -> Response:
    """One certificate or signature."""
    path, identity = _entry_place(request)
    return _entry(path, identity, request.parameters[2], request.machine.secure_boot.entries(path)[identity])


async def delete_entry(request: Request) -> Response:
    """Remove a certificate or a signature."""
    path, identity = _entry_place(request)
    if request.parameters[1].endswith("Default"):
        raise RedfishError(405, "OperationNotAllowed", "The default keys cannot be changed.")
    entries = request.machine.secure_boot.entries(path)
    del entries[identity]
    request.machine.secure_boot.keep(path, entries)
    return no_content()


def _reset(machine: Machine, database: str, wanted: str) -> None:
    if wanted == "ResetAllKeysToDefault":
        machine.secure_boot.restore(database)
    else:
        machine.secure_boot.empty(database)


def _reset_type(request: Request, allowed: tuple[str, ...], action: str) -> str:
    wanted = request.text(request.json(("ResetKeysType",)), "ResetKeysType")
    if wanted not in allowed:
        raise action_value(wanted, "ResetKeysType", action)
    return wanted


def _certificate(request: Request) -> dict[str, Any]:
    body = request.json(("CertificateString", "CertificateType", "UefiSignatureOwner"))
    pem, kind = request.text(body, "CertificateString"), request.text(body, "CertificateType")
    if kind != "PEM":
        raise not_in_list(kind, "CertificateType")
    try:
        properties = described(pem)
    except ValueError:
        text = "The value for the property CertificateString is not a certificate in PEM."
        raise RedfishError(400, "PropertyValueFormatError", text, "(the value)", "CertificateString") from None
    return {**properties, **({"UefiSignatureOwner": owner} if (owner := body.get("UefiSignatureOwner")) else {})}


def _signature(request: Request) -> dict[str, Any]:
    body = request.json(_SIGNATURE)
    for name in _SIGNATURE[:2]:
        request.text(body, name)
    return {"SignatureTypeRegistry": "UEFI", **body}


def _entry(path: str, identity: str, part: str, properties: dict[str, Any]) -> Response:
    return ok(_KINDS[part], f"{path}/{identity}", {"Id": identity, **properties})


def _entry_place(request: Request) -> tuple[str, str]:
    path, _, identity = request.path.rpartition("/")
    _check_there(request, path)
    if identity not in request.machine.secure_boot.entries(path):
        raise not_found(request.path)
    return path, identity


def _check_there(request: Request, path: str) -> Document:
    check_host(request)
    document = request.machine.board.document(path)
    if document is None or (len(request.parameters) > 2 and request.parameters[2] not in _KINDS):
        raise not_found(request.path)
    return document


_PATH = f"{SYSTEMS}/{{}}/SecureBoot"
_DATABASE = f"{_PATH}/SecureBootDatabases/{{}}"
ROUTES = (
    Route(_PATH, patch=change),
    Route(f"{_PATH}/Actions/SecureBoot.ResetKeys", post=reset_keys),
    Route(f"{_DATABASE}/Actions/SecureBootDatabase.ResetKeys", post=reset_database),
    Route(f"{_DATABASE}/{{}}", post=add_entry),
    Route(f"{_DATABASE}/{{}}/{{}}", get=get_entry, delete=delete_entry, lasting=True),
)
