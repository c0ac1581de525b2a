"""Boot overrides, set through sushy: the system's settings object where it has one, If-Match where there is an ETag."""

from collections.abc import Callable
from typing import Any

from sushy.resources.system.constants import BootSource, BootSourceOverrideEnabled, BootSourceOverrideMode
from sushy.resources.system.system import System

from provisioner.errors import BmcRefused
from provisioner.models.boot import BootMethod
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.quirks.traits import Traits
from provisioner.redfish.snapshot import Document

NOT_OFFERED = 501
UEFI = "UEFI"
IN_POST = frozenset(
    {
        "PrimaryProcessorInitializationStarted",
        "BusInitializationStarted",
        "MemoryInitializationStarted",
        "SecondaryProcessorInitializationStarted",
        "PCIResourceConfigStarted",
    }
)
"""BootProgress.LastState before the hardware is initialised (DSP0268 ComputerSystem); others are past it or no help."""


def boot_of(host: Document, settings: Document | None) -> Document:
    """The Boot object with what the settings object says on top, as far as it says anything."""
    merged: Document = {}
    for document in (host, settings or {}):
        boot: Any = document.get("Boot")
        if isinstance(boot, dict):
            merged |= {name: value for name, value in boot.items() if value is not None or name not in merged}
    return merged


def in_post(host: Document) -> bool:
    """Its BootProgress says that it has not left POST; where there is none, nobody can tell."""
    progress = host.get("BootProgress")
    return isinstance(progress, dict) and progress.get("LastState") in IN_POST


def uri_of(boot: Document) -> str | None:
    """HttpBootUri where it is set; sushy-tools says the text "None" where it is not."""
    uri = boot.get("HttpBootUri")
    return uri if isinstance(uri, str) and uri not in {"", "None"} else None


def secure_boot_of(document: Document | None) -> bool | None:
    """Whether Secure Boot is on at the next start (DSP0268, SecureBoot): what is asked for, else what is in force."""
    said = document or {}
    wanted, current = said.get("SecureBootEnable"), said.get("SecureBootCurrentBoot")
    if isinstance(wanted, bool):
        return wanted
    return current == "Enabled" if isinstance(current, str) else None


def mode_to_send(boot: Document, traits: Traits) -> str | None:
    """UEFI where the mode can be set and is another one; None: leave it out of the request."""
    if "BootSourceOverrideMode" not in boot:
        return None
    return None if boot["BootSourceOverrideMode"] == UEFI and not traits.repeat_boot_mode else UEFI


def override_once(
    bmc: str, path: str, method: BootMethod, *, mode: str | None
) -> Callable[[SingleShotConnector], None]:
    """Boot once from `method`'s target. Raises `BmcRefused` when the BMC does not offer the target or the URI."""

    def work(connector: SingleShotConnector) -> None:
        system = System(connector, path)
        allowed = {one.value for one in system.get_allowed_system_boot_source_values()}
        if method.target not in allowed:
            offered = ", ".join(sorted(allowed))
            raise BmcRefused(bmc, f"boot target {method.target} is not offered, only {offered}", NOT_OFFERED)
        system.set_system_boot_options(
            target=BootSource(method.target),
            enabled=BootSourceOverrideEnabled.ONCE,
            mode=BootSourceOverrideMode(mode) if mode else None,
            http_boot_uri=method.uri.reveal() if method.uri else None,
        )

    return work
