"""Where a site keeps its signed metadata: what it publishes or has taken in, and what it has seen last."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from images.trust.errors import TrustError
from images.trust.keys import PUBLIC, Keyholders, Role, Signer, read_keyring, read_signer

SHIPPED_ROOT = "1.root.json"


@dataclass(frozen=True, slots=True)
class TrustFolder:
    """`<data_dir>/trust`: `metadata/`, as `repository.publish` writes it, and `seen/`, what was believed last."""

    folder: Path

    @property
    def metadata(self) -> Path:
        """TUF metadata, which anybody may read."""
        return self.folder / "metadata"

    @property
    def seen(self) -> Path:
        """What came from the publisher last: nothing older is believed."""
        return self.folder / "seen"


def shipped_root(keys: Path) -> bytes:
    """The root that everything starts from, in the folder of `firstlight keys init`. Raises TrustError."""
    try:
        return (keys / SHIPPED_ROOT).read_bytes()
    except OSError as error:
        raise TrustError(
            f"{keys / SHIPPED_ROOT}: cannot be read ({error.strerror}); get it, and {PUBLIC}, from who signs releases, "
            "by a way that you trust"
        ) from error


def signers_in(keys: Path, *roles: Role) -> Mapping[Role, list[Signer]]:
    """The private keys that lie in the folder of `firstlight keys init`. Raises TrustError."""
    return {role: [read_signer(path) for path in sorted((keys / role).glob("*.key"))] for role in roles}


def managers_in(keys: Path) -> Keyholders:
    """Whose statements count: the targets keys of the public ones in the folder. Raises TrustError."""
    return read_keyring(keys / PUBLIC)[Role.TARGETS]


def copy_seen(before: Path, scratch: Path) -> None:
    """A copy that may be thrown away; `scratch` must not be there."""
    if before.is_dir():
        shutil.copytree(before, scratch)
