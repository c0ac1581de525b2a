"""What BMCs call themselves when they ask for an address (DHCP option 60). Others are found by looking."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BmcClass:
    """A vendor class that begins so is a BMC's."""

    begins: str
    source: str


BMC_CLASSES = (
    BmcClass("iDRAC", "Dell iDRAC9 User's Guide, 'DHCP options': the iDRAC identifies itself with vendor ID iDRAC"),
    BmcClass("CPQRIB3", "HPE iLO; dsx-ai-factory/infra-controller#3720 derives it from the hardware"),
    BmcClass("NVIDIA/BF/BMC", "BlueField; dsx-ai-factory/infra-controller#3720 derives it from the hardware"),
)


def is_bmc(client_class: str) -> bool:
    """It says that it is one."""
    return client_class.startswith(tuple(one.begins for one in BMC_CLASSES))
