"""Small images, made as a build makes them."""

from pathlib import Path

from images.manifest import Artefact, Bootable, ImageManifest
from images.oci.published import publish_image
from images.store import ArtefactStore

BOOTABLE = Bootable("6.1.0-1-amd64", ("boot=firstlight",), "ab" * 32, 4096, 512, "uki_http", secure_boot=False)


def small_image(store: ArtefactStore, mark: str, *, shared: bytes = b"kernel") -> ImageManifest:
    """An image with files of its own, and a kernel that others have too."""
    files = {"root": f"root {mark}".encode() * 1000, "kernel": shared, "initrd": f"initrd {mark}".encode()}
    artefacts = tuple(Artefact(role, store.put_bytes(content), len(content)) for role, content in files.items())
    return ImageManifest("small", "x86_64", artefacts, BOOTABLE)


def published(store: ArtefactStore, mark: str) -> ImageManifest:
    image = small_image(store, mark)
    publish_image(store, image)
    return image


def in_old_layout(store: ArtefactStore) -> None:
    """Put the files where stores of before had them; nothing else was there."""
    for blob in list(store.blobs.iterdir()):
        place = store.root / "sha256" / blob.name[:2] / blob.name
        place.parent.mkdir(parents=True, exist_ok=True)
        blob.replace(place)
    for name in ("index.json", "oci-layout"):
        (store.root / name).unlink(missing_ok=True)
    for folder in (store.blobs, store.blobs.parent, store.unfinished):
        folder.rmdir()


def is_whole(store: ArtefactStore, image: ImageManifest) -> bool:
    """Every byte of it is there."""
    return all(store.verify(one) for one in (image.digest, *(part.digest for part in image.artefacts)))


def blobs(store: ArtefactStore) -> set[Path]:
    return set(store.blobs.iterdir())
