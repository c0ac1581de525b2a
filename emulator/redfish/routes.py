"""All handlers, one place. A resource of the tree needs none for GET."""

from emulator.redfish import (
    account_service,
    bios,
    job_service,
    managers,
    metadata,
    reset,
    secure_boot,
    session_service,
    software_inventory,
    systems,
    task_service,
    update_actions,
    update_service,
)
from emulator.redfish.router import Route

ROUTES: tuple[Route, ...] = (
    *metadata.ROUTES,
    *session_service.ROUTES,
    *account_service.ROUTES,
    *systems.ROUTES,
    *bios.ROUTES,
    *secure_boot.ROUTES,
    *reset.ROUTES,
    *update_service.ROUTES,
    *update_actions.ROUTES,
    *software_inventory.ROUTES,
    *task_service.ROUTES,
    *job_service.ROUTES,
    *managers.ROUTES,
)
