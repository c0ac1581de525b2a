"""All routes, one place."""

from emulator.redfish import account_service, managers, service_root, session_service, systems
from emulator.redfish.router import Route

ROUTES: tuple[Route, ...] = (
    *service_root.ROUTES,
    *session_service.ROUTES,
    *account_service.ROUTES,
    *systems.ROUTES,
    *managers.ROUTES,
)
