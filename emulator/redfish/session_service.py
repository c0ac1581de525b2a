"""SessionService: logging in and out."""

from emulator.machine.sessions import Session
from emulator.redfish.authentication import password_change_required, refused
from emulator.redfish.errors import RedfishError, not_found
from emulator.redfish.http import Request, Response, collection, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.places import ACCOUNTS, SESSIONS


async def get_sessions(request: Request) -> Response:
    """The open sessions."""
    members = [session.id for session in request.machine.sessions.listing()]
    return collection("SessionCollection", SESSIONS, "Session Collection", members)


async def log_in(request: Request) -> Response:
    """POST of UserName and Password: 201 with X-Auth-Token and Location."""
    _refuse_by_fault(request)
    body = request.json(("UserName", "Password", "Oem", "Context", "SessionType"))
    username, password = request.text(body, "UserName"), request.text(body, "Password")
    account = request.machine.accounts.check(username, password)
    if account is None:
        raise refused()
    limit = request.machine.board.faults.peek("session-limit")
    session = request.machine.sessions.open(username)
    if session is None:
        text = "The session establishment failed due to the number of simultaneous sessions exceeding the limit."
        raise RedfishError(int(limit["status"]) if limit else 503, "SessionLimitExceeded", text)
    response = _show(session)
    response.status = 201
    response.headers = {"X-Auth-Token": session.token, "Location": f"{SESSIONS}/{session.id}"}
    if account.change_required and response.document:
        error = password_change_required(f"{ACCOUNTS}/{account.id}")
        response.document["@Message.ExtendedInfo"] = error.document()["error"]["@Message.ExtendedInfo"]
    return response


async def get_session(request: Request) -> Response:
    """One session."""
    for session in request.machine.sessions.listing():
        if session.id == request.parameters[0]:
            return _show(session)
    raise not_found(request.path)


async def log_out(request: Request) -> Response:
    """DELETE of a session."""
    if not request.machine.sessions.close(request.parameters[0]):
        raise not_found(request.path)
    return no_content()


def _refuse_by_fault(request: Request) -> None:
    faults = request.machine.board.faults
    refusal = faults.take("sessions-refused")
    if refusal:
        raise RedfishError(int(refusal["status"]), "OperationNotAllowed", "Sessions cannot be created.")
    if "authorization" in request.headers and faults.take("login-refuses-basic-header"):
        text = "The request must not have an Authorization header."
        raise RedfishError(415, "GeneralError", text)


def _show(session: Session) -> Response:
    document = {"Id": session.id, "Name": "User Session", "UserName": session.username}
    return ok("Session.v1_3_0.Session", f"{SESSIONS}/{session.id}", document)


ROUTES = (
    Route(SESSIONS, get=get_sessions, post=log_in, anyone=frozenset({"POST"})),
    Route(f"{SESSIONS}/Members", post=log_in, anyone=frozenset({"POST"})),
    Route(f"{SESSIONS}/{{}}", get=get_session, delete=log_out),
)
