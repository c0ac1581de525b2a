"""All handlers, one place. A resource of the tree needs none for GET."""

from emulator.redfish import (
    account_service,
    bios,
    managers,
    metadata,
    session_service,
    systems,
    task_service,
    update_service,
)
from emulator.redfish.router import Route

ROUTES: tuple[Route, ...] = (
    *metadata.ROUTES,
    *session_service.ROUTES,
    *account_service.ROUTES,
    *systems.ROUTES,
    *bios.ROUTES,
    *update_service.ROUTES,
    *task_service.ROUTES,
    *managers.ROUTES,
)
