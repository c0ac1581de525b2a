"""The programs that firmware starts: one for each image, made when it is first wanted, and the site's iPXE."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from images.boot_program.build import BootProgram, BootProgramError, Shelf, boot_program, loader_program
from images.boot_program.signing import SigningError, SigningPair
from images.manifest import ImageManifest
from images.store import ArtefactStore
from provisioner.boot.words import image_words
from provisioner.errors import BadInput

UKI_HTTP = "uki_http"
"""Of `Bootable.method`: UEFI HTTP boot of one program."""
_FOLDER = "boot-programs"


@dataclass(frozen=True, slots=True)
class BootSettings:
    """What the site says about network boot. Architectures in the words of the kernel."""

    server: str
    mirrors: tuple[str, ...] = ()
    ipxe: Mapping[str, Path] = field(default_factory=dict)
    stub: Mapping[str, Path] = field(default_factory=dict)
    signing: SigningPair | None = None


def lacks(manifest: ImageManifest, settings: BootSettings) -> str | None:
    """What the site has to have before this image can be booted, and has not; None: nothing."""
    bootable = manifest.bootable
    if bootable is None:
        return None
    if bootable.secure_boot and settings.signing is None:
        return (
            f"image {manifest.name} is for Secure Boot, and nothing signs its boot program; run: firstlight boot keys "
            "DIR, and name its db.key and db.crt in site.yaml under network_boot.sign"
        )
    stub = settings.stub.get(manifest.arch)
    if (bootable.method == UKI_HTTP or bootable.secure_boot) and not (stub and stub.is_file()):
        where = f"{stub} is not there" if stub else f"network_boot.stub names none for {manifest.arch}"
        return f"image {manifest.name} needs the stub of systemd-boot ({where}); run: apt install systemd-boot-efi"
    return None


class BootPrograms:
    """Programs in the artefact store. Making one reads some 50 MB and may sign, so it happens in a thread."""

    def __init__(self, store: ArtefactStore, data_dir: Path, settings: BootSettings) -> None:
        """Nothing is made yet."""
        self._shelf = Shelf(store, data_dir / _FOLDER)
        self._settings = settings
        self._known: dict[str, BootProgram] = {}

    async def of_image(self, manifest: ImageManifest) -> BootProgram:
        """The program of an image. Raises `BadInput` with what to do when the site lacks what it takes."""
        words = image_words(manifest, self._settings.server, self._settings.mirrors)
        stub, signing = self._settings.stub.get(manifest.arch), self._settings.signing
        return await self._made(
            manifest.digest, lambda: boot_program(manifest, words, self._shelf, stub=stub, signing=signing)
        )

    async def ipxe(self, arch: str) -> BootProgram | None:
        """The site's iPXE, signed where the site signs; None where site.yaml names none. Raises `BadInput`."""
        loader = self._settings.ipxe.get(arch)
        if loader is None:
            return None
        signing = self._settings.signing
        return await self._made(f"ipxe {arch}", lambda: loader_program(loader, self._shelf, signing=signing))

    async def _made(self, name: str, make: Callable[[], BootProgram]) -> BootProgram:
        """Kept in memory while its file is there: firmware asks for it thousands of times."""
        if name not in self._known:
            try:
                self._known[name] = await asyncio.to_thread(make)
            except (BootProgramError, SigningError) as error:
                raise BadInput(str(error)) from error
        return self._known[name]
