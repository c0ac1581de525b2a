"""Who may do what: Basic credentials or a session token, and the privileges of a role (DSP0266, security)."""

import base64
import binascii
import contextlib

from emulator.machine.accounts import Account
from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request
from emulator.tree.places import ACCOUNTS, CHASSIS, SESSIONS, SYSTEMS, TASK_SERVICE, UPDATE_SERVICE
from emulator.tree.services import PRIVILEGES

_OF_COMPONENTS = (SYSTEMS, CHASSIS, UPDATE_SERVICE, TASK_SERVICE)


def authenticate(request: Request) -> None:
    """Note who sent the request. Raises RedfishError: 401 for bad credentials, 403 for what the account may not do."""
    account = _by_token(request) if "x-auth-token" in request.headers else _by_password(request)
    request.username = account.username
    own = f"{ACCOUNTS}/{account.id}"
    if account.change_required and not _changes_password(request, own):
        raise password_change_required(own)
    privileges = PRIVILEGES[account.role]
    if request.method not in ("GET", "HEAD") or request.path.startswith(f"{ACCOUNTS}/"):
        needed = _needed(request, own)
        if needed not in privileges:
            text = "There are insufficient privileges for the account or credentials of the current session."
            raise RedfishError(403, "InsufficientPrivilege", text)
    request.authenticated = True


def recognise(request: Request) -> None:
    """Note who sent a request that anyone may send; wrong credentials are no reason to refuse it, and do not count."""
    username, password = _credentials(request)
    known = "x-auth-token" in request.headers or request.machine.accounts.would_accept(username, password)
    if known and not request.authenticated:
        with contextlib.suppress(RedfishError):
            authenticate(request)


def refused() -> RedfishError:
    """401; nothing of the credentials is repeated."""
    error = RedfishError(401, "NoValidSession", "There is no valid session, or the credentials are not accepted.")
    error.headers = {"WWW-Authenticate": 'Basic realm="redfish"'}
    return error


def password_change_required(account: str) -> RedfishError:
    """403 for an account (its path) whose password must be changed before anything else."""
    text = "The password provided for this account must be changed before access is granted."
    return RedfishError(403, "PasswordChangeRequired", text, account)


def _by_token(request: Request) -> Account:
    session = request.machine.sessions.find(request.headers["x-auth-token"])
    account = request.machine.accounts.named(session.username) if session else None
    if session is None or account is None:
        raise refused()
    request.session = session.id
    return account


def _by_password(request: Request) -> Account:
    username, password = _credentials(request)
    if username and request.machine.board.faults.take("basic-refused"):
        raise refused()
    account = request.machine.accounts.check(username, password) if username else None
    if account is None:
        raise refused()
    return account


def _credentials(request: Request) -> tuple[str, str]:
    """User name and password of Basic authentication; empty without it."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        username, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return username, password


def _changes_password(request: Request, own: str) -> bool:
    """Whether the request is one that an account may send before its password was changed."""
    if request.path == own:
        return request.method in ("GET", "HEAD", "PATCH")
    return request.method == "DELETE" and request.path == f"{SESSIONS}/{request.session}"


def _needed(request: Request, own: str) -> str:
    """The privilege that DSP8011's registry asks for, coarsely: by the service that is written to."""
    if request.path == own:
        return "ConfigureSelf" if request.method in ("GET", "HEAD", "PATCH") else "ConfigureUsers"
    if request.path.startswith(ACCOUNTS):
        return "ConfigureUsers"
    if request.path.startswith(f"{SESSIONS}/"):
        return "ConfigureSelf" if request.path == f"{SESSIONS}/{request.session}" else "ConfigureManager"
    return "ConfigureComponents" if request.path.startswith(_OF_COMPONENTS) else "ConfigureManager"
