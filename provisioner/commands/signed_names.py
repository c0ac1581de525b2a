"""What signed metadata names must be kept: somebody may boot it, or export it, at any time."""

from pathlib import Path

from images.oci.holdings import Pins, merged
from images.oci.pins import Pin, PinKind
from images.trust.errors import TrustError
from images.trust.folder import TrustFolder
from images.trust.repository import published
from provisioner.errors import FirstlightError


def signed_pins(data_dir: Path) -> Pins:
    """One pin for each signed name. Raises `FirstlightError` where the metadata cannot be read."""
    try:
        targets = published(TrustFolder(data_dir / "trust").metadata)
    except TrustError as error:
        raise FirstlightError(str(error)) from error
    return merged({one.digest: (Pin(PinKind.RELEASE, name, "signed"),)} for name, one in targets.items())
