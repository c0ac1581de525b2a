"""How a node is told to boot from the network, from what its BMC offers. Pure."""

from provisioner.models.boot import BootMethod
from provisioner.models.inventory import BootAbilities
from provisioner.models.secret import Secret


def choose_method(abilities: BootAbilities, uri: Secret) -> BootMethod | None:
    """UEFI HTTP boot first, PXE second; None when the BMC offers neither.

    UefiHttp among the allowed targets is not enough: without HttpBootUri nobody can say what to fetch.
    """
    if abilities.http_boot_uri and ("UefiHttp" in abilities.targets or not abilities.targets):
        return BootMethod("UefiHttp", uri)
    if "Pxe" in abilities.targets or not abilities.targets:
        return BootMethod("Pxe", None)
    return None
