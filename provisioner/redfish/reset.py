"""Resets: the allowed type that comes closest to the wanted one."""

from collections.abc import Callable, Collection

from sushy.resources.constants import ResetType
from sushy.resources.system.system import System

from provisioner.errors import BmcRefused
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.resources.resettable_manager import ResettableManager

NOT_OFFERED = 501

CLOSEST: dict[str, tuple[str, ...]] = {
    "On": ("On", "ForceOn"),
    "ForceOff": ("ForceOff", "GracefulShutdown"),
    "GracefulShutdown": ("GracefulShutdown", "ForceOff"),
    "ForceRestart": ("ForceRestart", "PowerCycle", "FullPowerCycle", "GracefulRestart"),
    "GracefulRestart": ("GracefulRestart", "ForceRestart", "PowerCycle"),
    "PowerCycle": ("PowerCycle", "FullPowerCycle"),
}
"""A restart may be a power cycle, but never the reverse: who wants one needs the loss of power."""


def closest(wanted: str, allowed: Collection[str]) -> str | None:
    """The first of the acceptable types that is allowed; `wanted` when the BMC lists none; None when none fits."""
    if not allowed:
        return wanted
    return next((one for one in CLOSEST.get(wanted, (wanted,)) if one in allowed), None)


def reset_host(bmc: str, path: str, wanted: str) -> Callable[[SingleShotConnector], None]:
    """ComputerSystem.Reset. Raises `BmcRefused` when nothing allowed comes close."""

    def work(connector: SingleShotConnector) -> None:
        system = System(connector, path)
        allowed = {one.value for one in system.get_allowed_reset_system_values()}
        system.reset_system(ResetType(_chosen(bmc, wanted, allowed)))

    return work


def reset_manager(bmc: str, path: str) -> Callable[[SingleShotConnector], None]:
    """Manager.Reset, graceful where allowed."""

    def work(connector: SingleShotConnector) -> None:
        manager = ResettableManager(connector, path)
        allowed = {one.value for one in manager.get_allowed_reset_manager_values()}
        manager.reset_manager(ResetType(_chosen(bmc, "GracefulRestart", allowed)))

    return work


def _chosen(bmc: str, wanted: str, allowed: Collection[str]) -> str:
    chosen = closest(wanted, allowed)
    if chosen is None:
        raise BmcRefused(bmc, f"reset {wanted} is not offered, only {', '.join(sorted(allowed))}", NOT_OFFERED)
    return chosen
