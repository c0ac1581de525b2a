"""How a node is told to boot from the network, from what its BMC offers and what the image can do. Pure."""

from collections.abc import Iterator

from images.manifest import ImageManifest
from provisioner.models.boot import BootMethod
from provisioner.models.inventory import BootAbilities
from provisioner.models.secret import Secret

HTTP, PXE = "UefiHttp", "Pxe"
IPXE = "ipxe"
"""Of `Bootable.method`: this image wants iPXE first."""


def choose_methods(abilities: BootAbilities, manifest: ImageManifest, uri: Secret | None) -> tuple[BootMethod, ...]:
    """The ways in the order in which they are tried; empty when there is none.

    UEFI HTTP boot first, PXE second, unless the image says otherwise. `uri`: of the image's program for UEFI; None
    where there is none. UefiHttp among the allowed targets is not enough: without HttpBootUri nobody can say what to
    fetch.
    """
    ways = tuple(_ways(abilities, uri))
    wants_ipxe = manifest.bootable is not None and manifest.bootable.method == IPXE
    return ways[::-1] if wants_ipxe else ways


def _ways(abilities: BootAbilities, uri: Secret | None) -> Iterator[BootMethod]:
    if uri is not None and abilities.http_boot_uri and (HTTP in abilities.targets or not abilities.targets):
        yield BootMethod(HTTP, uri)
    if PXE in abilities.targets or not abilities.targets:
        yield BootMethod(PXE, None)
