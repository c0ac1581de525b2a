"""The words of a kernel command line, as the initrd in the image reads them. Pure."""

from collections.abc import Sequence

from images.manifest import ImageManifest
from provisioner.models.boot import BootTicket


def image_words(manifest: ImageManifest, server: str, mirrors: Sequence[str]) -> tuple[str, ...]:
    """What is the same for every node that boots this image: nothing secret. Raises KeyError for an image without root.

    Mirrors come in the order in which they are asked, the server after them.
    """
    told = [
        ("server", server),
        ("image", manifest.digest),
        ("root", manifest.artefact("root").digest),
    ]
    before: tuple[str, ...] = ()
    if manifest.bootable is not None:
        before = manifest.bootable.command_line
        told += [
            ("verity", manifest.bootable.verity_root_hash),
            ("verity_offset", str(manifest.bootable.verity_offset_bytes)),
            ("overlay_mib", str(manifest.bootable.overlay_mib)),
        ]
        told += [("mirror", mirror.rstrip("/")) for mirror in mirrors]
    return (*before, *_words(told))


def node_words(ticket: BootTicket) -> tuple[str, ...]:
    """What is for one boot of one node: its one-time token among it."""
    return tuple(_words([("node", ticket.node), ("token", ticket.token.reveal())]))


def _words(told: Sequence[tuple[str, str]]) -> list[str]:
    return [f"firstlight.{name}={value}" for name, value in told]
