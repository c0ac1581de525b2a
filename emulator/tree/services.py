"""The services that every BMC has: sessions and accounts."""

from collections.abc import Iterator, Mapping

from emulator.persona.persona import Persona
from emulator.tree.document import Entry, collection, link, resource
from emulator.tree.places import ACCOUNT_SERVICE, SESSION_SERVICE

PRIVILEGES: Mapping[str, tuple[str, ...]] = {
    "Administrator": ("Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"),
    "Operator": ("Login", "ConfigureComponents", "ConfigureSelf"),
    "ReadOnly": ("Login", "ConfigureSelf"),
}


def build(persona: Persona) -> Iterator[Entry]:
    """SessionService and AccountService; what comes and goes in them has handlers."""
    yield _sessions(persona)
    yield from _accounts(persona)


def _sessions(persona: Persona) -> Entry:
    path = SESSION_SERVICE
    properties = {
        "ServiceEnabled": True,
        "SessionTimeout": int(persona.sessions.timeout_seconds),
        "Sessions": link(f"{path}/Sessions"),
    }
    return resource(path, "SessionService.v1_1_7.SessionService", "Session Service", properties)


def _accounts(persona: Persona) -> Iterator[Entry]:
    path, policy = ACCOUNT_SERVICE, persona.accounts
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
