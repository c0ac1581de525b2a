"""AccountService: one administrator account, whose password may be changed."""

from emulator.redfish.errors import RedfishError, not_found, not_in_list
from emulator.redfish.http import Request, Response, collection, link, no_content, ok
from emulator.redfish.router import Route

SERVICE = "/redfish/v1/AccountService"
ACCOUNTS = f"{SERVICE}/Accounts"
ROLES = f"{SERVICE}/Roles"


async def get_accounts(request: Request) -> Response:
    """The accounts."""
    members = [request.machine.board.persona.accounts.id]
    return collection("ManagerAccountCollection", ACCOUNTS, "Accounts Collection", members)


async def get_account(request: Request) -> Response:
    """The administrator."""
    _check_id(request)
    machine = request.machine
    document = {
        "Id": request.parameters[0],
        "Name": "User Account",
        "UserName": machine.board.state.username,
        "Password": None,
        "PasswordChangeRequired": machine.account.change_required,
        "RoleId": "Administrator",
        "Enabled": True,
        "Locked": machine.account.locked,
        "AccountTypes": ["Redfish"],
        "Links": {"Role": link(f"{ROLES}/Administrator")},
    }
    return ok("ManagerAccount.v1_8_0.ManagerAccount", request.path, document)


async def change_account(request: Request) -> Response:
    """PATCH Password (and UserName, Enabled, RoleId with the values that they have)."""
    _check_id(request)
    body = request.json(("Password", "UserName", "Enabled", "RoleId", "Locked"))
    if "UserName" in body:
        request.machine.board.state.username = request.text(body, "UserName")
    if body.get("RoleId", "Administrator") != "Administrator" or body.get("Enabled", True) is not True:
        raise not_in_list(body.get("RoleId", body.get("Enabled")), "RoleId")
    if "Password" in body:
        request.machine.account.change(_password(request, request.text(body, "Password")))
    request.machine.board.save()
    return no_content()


def _password(request: Request, password: str) -> str:
    policy = request.machine.board.persona.accounts
    if policy.min_password <= len(password) <= policy.max_password and password != policy.factory_password:
        return password
    text = f"The password must have {policy.min_password} to {policy.max_password} characters and be a new one."
    raise RedfishError(400, "PropertyValueFormatError", text, "***", "Password")


def _check_id(request: Request) -> None:
    if request.parameters[0] != request.machine.board.persona.accounts.id:
        raise not_found(request.path)


ROUTES = (
    Route(ACCOUNTS, get=get_accounts),
    Route(f"{ACCOUNTS}/{{}}", get=get_account, patch=change_account),
)
