"""What a drive of virtual media takes."""

_TYPES = {"Cd": ("CD", "DVD"), "Floppy": ("Floppy", "USBStick"), "Usb": ("USBStick",)}


def media_types(identity: str) -> tuple[str, ...]:
    """Drives are named after what they hold, with a number where there are several: Cd, Cd2, Slot1, USB1."""
    name = identity.lower()
    if "usb" in name:
        return _TYPES["Usb"]
    return _TYPES["Floppy"] if name.startswith(("floppy", "removable")) else _TYPES["Cd"]
