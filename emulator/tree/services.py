"""The services that every BMC has: sessions, accounts, tasks, updates, registries."""

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.persona.persona import Persona
from emulator.tree.document import ROOT, Entry, collection, link, resource

PRIVILEGES: Mapping[str, tuple[str, ...]] = {
    "Administrator": ("Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"),
    "Operator": ("Login", "ConfigureComponents", "ConfigureSelf"),
    "ReadOnly": ("Login", "ConfigureSelf"),
}


def build(persona: Persona) -> Iterator[Entry]:
    """SessionService, AccountService, TaskService and UpdateService; what comes and goes in them has handlers."""
    yield _sessions(persona)
    yield from _accounts(persona)
    yield _tasks()
    yield _updates(persona)


def _sessions(persona: Persona) -> Entry:
    path = f"{ROOT}/SessionService"
    properties = {
        "ServiceEnabled": True,
        "SessionTimeout": int(persona.sessions.timeout_seconds),
        "Sessions": link(f"{path}/Sessions"),
    }
    return resource(path, "SessionService.v1_1_7.SessionService", "Session Service", properties)


def _accounts(persona: Persona) -> Iterator[Entry]:
    path, policy = f"{ROOT}/AccountService", persona.accounts
    properties = {
        "ServiceEnabled": True,
        "MinPasswordLength": policy.min_password,
        "MaxPasswordLength": policy.max_password,
        "AccountLockoutThreshold": policy.lockout_threshold,
        "AccountLockoutDuration": int(policy.lockout_seconds),
        "AccountLockoutCounterResetAfter": int(policy.counter_reset_seconds),
        "Accounts": link(f"{path}/Accounts"),
        "Roles": link(f"{path}/Roles"),
    }
    yield resource(path, "AccountService.v1_9_0.AccountService", "Account Service", properties)
    yield collection(f"{path}/Roles", "RoleCollection", "Roles Collection", PRIVILEGES)
    for role, privileges in PRIVILEGES.items():
        properties = {"RoleId": role, "IsPredefined": True, "AssignedPrivileges": list(privileges)}
        yield resource(f"{path}/Roles/{role}", "Role.v1_3_1.Role", "User Role", properties)


def _tasks() -> Entry:
    path = f"{ROOT}/TaskService"
    properties = {"ServiceEnabled": True, "CompletedTaskOverWritePolicy": "Oldest", "Tasks": link(f"{path}/Tasks")}
    return resource(path, "TaskService.v1_1_5.TaskService", "Task Service", properties)


def _updates(persona: Persona) -> Entry:
    path, update = f"{ROOT}/UpdateService", persona.update
    properties: dict[str, Any] = {
        "ServiceEnabled": True,
        "FirmwareInventory": link(f"{path}/FirmwareInventory"),
        "MaxImageSizeBytes": update.max_image_bytes,
        "Actions": {},
    }
    if update.multipart_uri:
        properties["MultipartHttpPushUri"] = update.multipart_uri
    if update.push_uri:
        properties |= {"HttpPushUri": update.push_uri, "HttpPushUriTargets": []}
    if update.simple_update:
        protocols = {"TransferProtocol@Redfish.AllowableValues": list(update.protocols)}
        target = f"{path}/Actions/UpdateService.SimpleUpdate"
        properties["Actions"]["#UpdateService.SimpleUpdate"] = {"target": target, **protocols}
    return resource(path, "UpdateService.v1_11_0.UpdateService", "Update Service", properties)
