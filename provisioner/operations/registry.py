"""Every operation by its name in the lifecycle table."""

from provisioner.operations.assign import assign
from provisioner.operations.boot import boot
from provisioner.operations.burn_in import burn_in
from provisioner.operations.configure_bios import configure_bios
from provisioner.operations.identify import identify
from provisioner.operations.inventory import inventory
from provisioner.operations.outcome import Operation
from provisioner.operations.secure import secure
from provisioner.operations.update_firmware import update_firmware

OPERATIONS: dict[str, Operation] = {
    "identify": identify,
    "secure": secure,
    "inventory": inventory,
    "assign": assign,
    "update_firmware": update_firmware,
    "configure_bios": configure_bios,
    "boot": boot,
    "burn_in": burn_in,
}
