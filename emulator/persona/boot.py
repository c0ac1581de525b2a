"""What a host can boot, and how its BMC treats boot overrides."""

from typing import Literal

from pydantic import Field

from emulator.persona.part import Part

NETWORK = ("Pxe", "UefiHttp")
MEDIA = ("Cd", "UsbCd", "Usb", "Floppy")
BOOTS = ("Hdd", *NETWORK, *MEDIA)
_NAMES = {"Hdd": "Hard Drive", "Pxe": "UEFI PXE IPv4", "UefiHttp": "UEFI HTTP IPv4", "Cd": "Virtual CD", "Usb": "USB"}
_DEVICES = {"Hdd": "NVMe(0x1,00-00-00-00-00-00-00-00)", "Pxe": "MAC({mac},0x1)/IPv4(0.0.0.0)"}

BootQuirk = Literal[
    "boot-mode-refused",
    "boot-mode-reverts",
    "boot-disable-needs-mode",
    "boot-disable-needs-target",
    "boot-override-absent",
    "boot-continuous-forgotten",
    "boot-refuses-unchanged",
]


class Boot(Part):
    """Boot abilities. A network boot works only while the named BIOS attributes have the named values.

    `references`: the boot options that there are, by their BootOptionReference, where they are not simply numbered.
    `settings`: last part of the path of the future state of the system (`SD`); `direct`: the system itself takes
    overrides too. `quirks`: names of faults of faults/boot.py that every server of this kind has.
    `lenovo_settings`: the order can be written at Oem/Lenovo/BootSettings, too.
    """

    targets: tuple[str, ...]
    modes: tuple[str, ...] = ("UEFI",)
    http_boot_uri: bool
    order: tuple[str, ...] = ("Hdd", "Pxe")
    references: dict[str, str] = Field(default_factory=dict)
    http_needs: dict[str, str | int | bool] = Field(default_factory=dict)
    pxe_needs: dict[str, str | int | bool] = Field(default_factory=dict)
    settings: str | None = None
    direct: bool = True
    quirks: tuple[BootQuirk, ...] = ()
    lenovo_settings: bool = False

    @property
    def options(self) -> dict[str, str]:
        """The target of each boot option, by its reference, as the factory orders them."""
        if self.references:
            return self.references
        targets = dict.fromkeys((*self.order, *(target for target in self.targets if target in BOOTS)))
        return {f"Boot{number:04X}": target for number, target in enumerate(targets, 1)}

    @property
    def factory_order(self) -> tuple[str, ...]:
        """The references that are tried, in order."""
        return tuple(reference for reference, target in self.options.items() if target in self.order)


def option_name(target: str, mac: str) -> str:
    """What a boot option is called; `mac`: of the port that it boots from."""
    name = _NAMES.get(target, target)
    return f"{name} ({mac})" if target in NETWORK else name


def device_path(target: str, mac: str) -> str:
    """The UEFI device path of a boot option, as far as it tells one from another. UEFI 2.10, 10.3."""
    if target == "UefiHttp":
        return f"PciRoot(0x0)/Pci(0x1,0x0)/MAC({mac},0x1)/IPv4(0.0.0.0)/Uri()"
    return f"PciRoot(0x0)/Pci(0x1,0x0)/{_DEVICES.get(target, f'USB(0x1,0x0)/{target}').replace('{mac}', mac)}"
