"""What the site wants its nodes to run, and the files that it takes."""

from pathlib import Path
from typing import Protocol

from profiles.matching import Found, Refusal
from profiles.models import HardwareClass
from profiles.release import Release
from provisioner.models.package import Package


class Releases(Protocol):
    """Profiles and the site's choice among them."""

    def hardware_class(self, found: Found) -> HardwareClass | Refusal:
        """The one class that the server belongs to, or why there is none."""
        ...

    def desired(self, hardware_class: str) -> Release | None:
        """The release that the site wants on this class; None when it has chosen none."""
        ...


class Artefacts(Protocol):
    """Files by digest, as nodes and BMCs fetch them."""

    def package(self, digest: str) -> Package | None:
        """A firmware package; None when the file has not been put into the store."""
        ...

    def root_of(self, image: str) -> str:
        """The digest of the root that an image digest names. Raises `NotFound`."""
        ...

    def path(self, digest: str) -> Path:
        """Where the file lies. Raises `NotFound`."""
        ...
