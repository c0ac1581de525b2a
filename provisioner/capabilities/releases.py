"""What the site wants its nodes to run, and the files that it takes."""

from pathlib import Path
from typing import Protocol

from images.boot_program.build import BootProgram
from images.manifest import ImageManifest
from profiles.firmware.component import Artefact
from profiles.matching import Found, Refusal
from profiles.models import HardwareClass
from profiles.release import Release
from provisioner.firmware.package.inspect import Inspection
from provisioner.models.package import Package


class Releases(Protocol):
    """Profiles and the site's choice among them."""

    def hardware_class(self, found: Found) -> HardwareClass | Refusal:
        """The one class that the server belongs to, or why there is none."""
        ...

    def desired(self, hardware_class: str) -> Release | None:
        """The release that the site wants on this class; None when it has chosen none."""
        ...

    def named(self, name: str) -> Release:
        """Any release of the profiles, with its image as it is built now.

        Raises `NotFound` when there is none of that name, `BadInput` with what to run when its image is not there.
        """
        ...


class Artefacts(Protocol):
    """Files by digest, as nodes and BMCs fetch them."""

    def package(self, digest: str) -> Package | None:
        """A firmware package; None when the file has not been put into the store."""
        ...

    async def obtain(self, artefact: Artefact) -> Package:
        """The same, brought here from where the site has it. Raises `NotFound` with where it was looked for."""
        ...

    async def inspect(self, artefact: Artefact) -> Inspection:
        """What the file holds; it is read once for all nodes, and again after an hour, or when it has changed.

        Raises `PackageError` for what must not be sent to any device, `NotFound` where there is no file.
        """
        ...

    def manifest(self, image: str) -> ImageManifest:
        """What an image consists of, old ones that nodes still run too. Raises `NotFound`."""
        ...

    async def uki(self, image: str) -> BootProgram | None:
        """The one file that UEFI starts for an image; made when it is first wanted, which takes seconds.

        None where it has none. Raises `NotFound`, and `BadInput` with what to do when the site lacks what it takes.
        """
        ...

    async def ipxe(self, arch: str) -> BootProgram | None:
        """The site's iPXE for UEFI of an architecture (x86_64, arm64), signed where the site signs; None: it has none.

        Raises `BadInput` with what to do when it cannot be read.
        """
        ...

    @property
    def mirrors(self) -> tuple[str, ...]:
        """Servers that hold our files by digest, nearer to the nodes, in the order in which they are asked."""
        ...

    def path(self, digest: str) -> Path:
        """Where the file lies. Raises `NotFound`."""
        ...

    async def is_sound(self, digest: str) -> bool:
        """Read the whole file: it is there, and it is what its digest says."""
        ...
