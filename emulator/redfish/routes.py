"""All routes, one place."""

from emulator.redfish import (
    account_service,
    bios,
    managers,
    memory,
    processors,
    registries,
    service_root,
    session_service,
    storage,
    systems,
    task_service,
    update_service,
)
from emulator.redfish.router import Route

ROUTES: tuple[Route, ...] = (
    *service_root.ROUTES,
    *session_service.ROUTES,
    *account_service.ROUTES,
    *systems.ROUTES,
    *bios.ROUTES,
    *processors.ROUTES,
    *memory.ROUTES,
    *storage.ROUTES,
    *update_service.ROUTES,
    *task_service.ROUTES,
    *registries.ROUTES,
    *managers.ROUTES,
)
