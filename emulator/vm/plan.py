"""One virtual machine with a BMC in front of it, and where its files are."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
SECURE_FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")

BRIDGE = "br0"
USERNAME, PASSWORD = "admin", "factory-password"

SERIAL = "437XR1138R2"
"""What sushy-tools says of every chassis; the virtual machine says the same of itself."""


@dataclass(frozen=True, slots=True)
class VmPlan:
    """`network`: the bridge's own address with its prefix, the gateway of nothing.

    `http_boot`: the firmware tries UEFI HTTP boot first, as it does where PXE is off. `secure_variables`: a variable
    store with the owner's keys, for Secure Boot. `tpm`: a TPM 2.0 by swtpm.
    """

    directory: Path
    memory_mib: int = 1024
    cpus: int = 2
    network: str = "10.77.0.1/24"
    bmc_port: int = 8443
    http_boot: bool = False
    secure_variables: Path | None = None
    tpm: bool = False
    name: str = "vm-1"
    uuid: str = "6a3c9d5e-41d4-4c1e-9f5b-000000000001"
    mac: str = "52:54:00:77:00:01"

    @property
    def address(self) -> str:
        """Of the bridge, where BMC and services listen."""
        return str(ipaddress.ip_interface(self.network).ip)

    @property
    def serial_log(self) -> Path:
        """What the machine writes on its serial console."""
        return self.directory / "serial.log"
