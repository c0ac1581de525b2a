"""AccountService: one administrator account, whose password may be changed."""

from emulator.redfish.errors import RedfishError, not_found, not_in_list
from emulator.redfish.http import Request, Response, collection, link, no_content, ok
from emulator.redfish.router import Route

SERVICE = "/redfish/v1/AccountService"
ACCOUNTS = f"{SERVICE}/Accounts"
ROLES = f"{SERVICE}/Roles"
_PRIVILEGES = ("Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf", "ConfigureComponents")


async def get_service(request: Request) -> Response:
    """AccountService, with the policy of the persona."""
    policy = request.machine.board.persona.accounts
    document = {
        "Id": "AccountService",
        "Name": "Account Service",
        "ServiceEnabled": True,
        "MinPasswordLength": policy.min_password,
        "MaxPasswordLength": policy.max_password,
        "AccountLockoutThreshold": policy.lockout_threshold,
        "AccountLockoutDuration": int(policy.lockout_seconds),
        "AccountLockoutCounterResetAfter": int(policy.counter_reset_seconds),
        "Accounts": link(ACCOUNTS),
        "Roles": link(ROLES),
    }
    return ok("AccountService.v1_9_0.AccountService", SERVICE, document)


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


async def get_roles(_request: Request) -> Response:
    """The one role."""
    return collection("RoleCollection", ROLES, "Roles Collection", ["Administrator"])


async def get_role(request: Request) -> Response:
    """Administrator."""
    if request.parameters[0] != "Administrator":
        raise not_found(request.path)
    document = {
        "Id": "Administrator",
        "Name": "User Role",
        "RoleId": "Administrator",
        "IsPredefined": True,
        "AssignedPrivileges": list(_PRIVILEGES),
    }
    return ok("Role.v1_3_0.Role", request.path, document)


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
    Route(SERVICE, get=get_service),
    Route(ACCOUNTS, get=get_accounts),
    Route(f"{ACCOUNTS}/{{}}", get=get_account, patch=change_account),
    Route(ROLES, get=get_roles),
    Route(f"{ROLES}/{{}}", get=get_role),
)
