"""Where packages may come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEBIAN_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True, slots=True)
class Source:
    """An apt repository by `uri`, or a `folder` of .deb files; exactly one of them.

    `suites`: `{suite}` in them is the suite of the image; one that ends with `/` is a folder of a flat repository.
    `keyring`: a file of OpenPGP keys, armoured or not; Debian's own where absent. `components`: for the mirror of the
    distribution those of the image where absent, for another mirror all that it has.
    """

    uri: str | None = field(default=None, repr=False)
    folder: Path | None = None
    suites: tuple[str, ...] = ("{suite}",)
    keyring: Path | None = None
    components: tuple[str, ...] | None = None


Sources = Mapping[str, tuple[Source, ...]]
"""By the name that image profiles give the mirror; sources with the same suite stand in for each other."""
