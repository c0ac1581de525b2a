"""Managers: what sushy-tools does not know about a BMC."""

from emulator.redfish.reset import reset_manager
from emulator.redfish.router import Route

MANAGERS = "/redfish/v1/Managers"

ROUTES = (Route(f"{MANAGERS}/{{}}/Actions/Manager.Reset", post=reset_manager),)
