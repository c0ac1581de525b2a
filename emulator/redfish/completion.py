"""What sushy-tools' documents lack or say of a machine of its own invention."""

from typing import Any

from emulator.machine.machine import Machine

_INVENTED = ("@Redfish.Copyright", "Location", "HeightMm", "WidthMm", "DepthMm", "WeightKg", "AssetTag", "SKU")


def complete(_machine: Machine, _path: str, document: dict[str, Any]) -> dict[str, Any]:
    """`document` as this machine's persona has it."""
    for name in _INVENTED:
        document.pop(name, None)
    return document
