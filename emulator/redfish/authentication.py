"""Who may do what: Basic credentials or a session token (DSP0266, security)."""

import base64
import binascii

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request

_OPEN_WITH_FACTORY_PASSWORD = ("/redfish/v1/AccountService", "/redfish/v1/SessionService")


def authenticate(request: Request) -> None:
    """Mark the request as authenticated; raises 401 for bad credentials, 403 while the password must be changed."""
    if "x-auth-token" in request.headers:
        if request.machine.sessions.find(request.headers["x-auth-token"]) is None:
            raise RedfishError(401, "NoValidSession", "There is no valid session established with the service.")
    elif not _basic(request):
        raise RedfishError(401, "NoValidSession", "The credentials are not valid or the account is locked.")
    if request.machine.account.change_required and not request.path.startswith(_OPEN_WITH_FACTORY_PASSWORD):
        account = f"/redfish/v1/AccountService/Accounts/{request.machine.board.persona.accounts.id}"
        text = "The password provided for this account must be changed before access is granted."
        raise RedfishError(403, "PasswordChangeRequired", text, account)
    request.authenticated = True


def _basic(request: Request) -> bool:
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        username, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return request.machine.account.check(username, password)
