"""AccountService: the accounts; they come and go."""

from typing import Any

from emulator.machine.accounts import Account
from emulator.redfish.errors import (
    RedfishError,
    missing,
    no_operation,
    not_found,
    not_in_list,
    not_writable,
    unknown_property,
    wrong_type,
)
from emulator.redfish.etags import tag_document
from emulator.redfish.http import Request, Response, collection, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.document import link
from emulator.tree.places import ACCOUNT_SERVICE, ACCOUNTS
from emulator.tree.services import PRIVILEGES

_WRITABLE = {"Password": str, "UserName": str, "RoleId": str, "Enabled": bool, "Locked": bool}
_WRITABLE["PasswordChangeRequired"] = bool
_READ_ONLY = ("Id", "Name", "AccountTypes", "Links", "Description")


async def get_accounts(request: Request) -> Response:
    """The accounts."""
    members = [account.id for account in request.machine.accounts.listing()]
    return collection("ManagerAccountCollection", ACCOUNTS, "Accounts Collection", members)


async def get_account(request: Request) -> Response:
    """One account."""
    return _show(request, _find(request))


async def create_account(request: Request) -> Response:
    """POST of UserName, Password and RoleId: 201 with Location."""
    body = request.json((*_WRITABLE, "AccountTypes", "Description", "Oem"))
    username, password = request.text(body, "UserName"), request.text(body, "Password")
    role = _role(body)
    accounts = request.machine.accounts
    if accounts.named(username):
        text = f"The resource with the property UserName and the value '{username}' already exists."
        raise RedfishError(400, "ResourceAlreadyExists", text, "ManagerAccount", "UserName", username)
    account = accounts.create(username, _password(request, password), role)
    if account is None:
        text = "The create operation failed because the resource has reached the limit of possible resources."
        raise RedfishError(400, "CreateLimitReachedForResource", text)
    account.enabled = _checked(body, "Enabled", account.enabled)
    account.change_required = _checked(body, "PasswordChangeRequired", account.change_required)
    accounts.store()
    response = _show(request, account)
    response.status = 201
    response.headers = {"Location": f"{ACCOUNTS}/{account.id}"}
    return response


async def change_account(request: Request) -> Response:
    """PATCH: all properties or none."""
    account = _find(request)
    body = {name: value for name, value in request.json().items() if not name.startswith("@")}
    for name in body:
        if name not in _WRITABLE:
            raise not_writable(name) if name in _READ_ONLY else unknown_property(name)
    if not body:
        raise no_operation()
    if request.username == account.username and not _may_administrate(request) and set(body) != {"Password"}:
        raise not_writable(next(name for name in body if name != "Password"))
    changes = _changes(request, account, body)
    for name, value in changes.items():
        setattr(account, name, value)
    if "Password" in body:
        request.machine.accounts.set_password(account, body["Password"])
    request.machine.accounts.store()
    return _show(request, account)


async def delete_account(request: Request) -> Response:
    """DELETE of an account; the factory's stays."""
    account = _find(request)
    accounts = request.machine.accounts
    if account is accounts.factory:
        raise RedfishError(403, "ResourceCannotBeDeleted", "The resource cannot be deleted.")
    accounts.delete(account)
    request.machine.sessions.close_of(account.username)
    return no_content()


def _show(request: Request, account: Account) -> Response:
    path = f"{ACCOUNTS}/{account.id}"
    document = {
        "Id": account.id,
        "Name": "User Account",
        "UserName": account.username,
        "Password": None,
        "PasswordChangeRequired": account.change_required,
        "RoleId": account.role,
        "Enabled": account.enabled,
        "Locked": account.locked,
        "AccountTypes": ["Redfish"],
        "Links": {"Role": link(f"{ACCOUNT_SERVICE}/Roles/{account.role}")},
    }
    response = ok("ManagerAccount.v1_12_0.ManagerAccount", path, document)
    tag_document(request, response)
    return response


def _changes(request: Request, account: Account, body: dict[str, Any]) -> dict[str, Any]:
    for name, kind in _WRITABLE.items():
        if name in body and not isinstance(body[name], kind):
            raise wrong_type(body[name], name)
    changes: dict[str, Any] = {}
    if "Password" in body:
        _password(request, body["Password"])
    if "RoleId" in body:
        changes["role"] = _role(body)
    if "UserName" in body:
        changes["username"] = _username(request, account, body["UserName"])
    if body.get("Locked"):
        raise not_in_list(True, "Locked")  # noqa: FBT003  (the value that was refused)
    if body.get("Locked") is False:
        changes["locked_until"] = 0.0
    fields = {"Enabled": "enabled", "PasswordChangeRequired": "change_required"}
    return changes | {field: body[name] for name, field in fields.items() if name in body}


def _username(request: Request, account: Account, username: str) -> str:
    other = request.machine.accounts.named(username)
    if not username or (other and other is not account):
        raise not_in_list(username, "UserName")
    return username


def _role(body: dict[str, Any]) -> str:
    if "RoleId" not in body:
        raise missing("RoleId")
    role = body["RoleId"]
    if not isinstance(role, str):
        raise wrong_type(role, "RoleId")
    if role not in PRIVILEGES:
        raise not_in_list(role, "RoleId")
    return role


def _checked(body: dict[str, Any], name: str, default: bool) -> bool:  # noqa: FBT001  (a property's value)
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise wrong_type(value, name)
    return value


def _password(request: Request, password: str) -> str:
    policy = request.machine.board.persona.accounts
    if policy.min_password <= len(password) <= policy.max_password and password != policy.factory_password:
        return password
    text = f"The password must have {policy.min_password} to {policy.max_password} characters and be a new one."
    raise RedfishError(400, "PropertyValueFormatError", text, "***", "Password")


def _may_administrate(request: Request) -> bool:
    sender = request.machine.accounts.named(request.username)
    return sender is not None and sender.role == "Administrator"


def _find(request: Request) -> Account:
    account = request.machine.accounts.find(request.parameters[0])
    if account is None:
        raise not_found(request.path)
    return account


ROUTES = (
    Route(ACCOUNTS, get=get_accounts, post=create_account),
    Route(f"{ACCOUNTS}/{{}}", get=get_account, patch=change_account, delete=delete_account),
)
