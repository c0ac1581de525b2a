"""BIOS settings: staged in the settings object that the BMC names (`@Redfish.Settings`), else in Bios itself."""

from collections.abc import Callable, Mapping
from typing import Any

from provisioner.capabilities.bmcs import BiosValue
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.snapshot import Document, link

ON_RESET = "OnReset"


def attributes_of(document: Document | None) -> Mapping[str, BiosValue]:
    """The Attributes of a Bios resource or of its settings object; values of other types are left out."""
    attributes = (document or {}).get("Attributes")
    if not isinstance(attributes, dict):
        return {}
    return {name: value for name, value in attributes.items() if value is None or isinstance(value, (str, int, bool))}


def settings_of(bios: Document | None) -> str | None:
    """Where settings wait for the next reset; None where the BMC names no such place (Gigabyte MegaRAC 12.84)."""
    return link(bios, "@Redfish.Settings", "SettingsObject")


def stage(bios: Document, path: str, attributes: Mapping[str, BiosValue]) -> Callable[[SingleShotConnector], None]:
    """PATCH `attributes`, guarded by the ETag of the resource that is written."""
    target = settings_of(bios) or path
    body: dict[str, Any] = {"Attributes": dict(attributes)}
    settings = bios.get("@Redfish.Settings")
    times = settings.get("SupportedApplyTimes") if isinstance(settings, dict) else None
    if isinstance(times, list) and ON_RESET in times:
        # iDRAC keeps settings without an apply time for ever (DSP0266 "Settings resource").
        body["@Redfish.SettingsApplyTime"] = {"ApplyTime": ON_RESET}

    def work(connector: SingleShotConnector) -> None:
        etag = connector.get(target).headers.get("ETag")
        connector.patch(target, data=body, etag=etag)

    return work
