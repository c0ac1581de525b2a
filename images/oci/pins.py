"""Who holds a digest, as files: `<store>/pins/<64 hex>/<holder>.json`. What is pinned is never collected.

Pointers of the database (slots, channels, rollouts) are pins too; whoever collects reads both.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from images.digest import Digest, hex_of, parse_digest
from images.oci.index import replace_file
from images.store import ArtefactError, ArtefactStore
from images.whole_files import sync_directory

_HOLDER = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)


class PinError(ArtefactError):
    """It cannot be pinned, or released, so; the text says what to do."""


class PinKind(StrEnum):
    """What kind of holder it is."""

    NAME = "name"
    """What a profile's name stands for now."""
    SLOT = "slot"
    CHANNEL = "channel"
    ROLLOUT = "rollout"
    RELEASE = "release"
    BOOT = "boot"
    """A node runs it, or is to boot it."""
    FIRMWARE = "firmware"
    HOLD = "hold"
    """Somebody says that it has to be kept."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One holder of a digest. `holder`: lower-case letters, digits, dots, dashes; one pin for each kind and holder."""

    kind: PinKind
    holder: str
    reason: str
    who: str = ""
    at: str = ""
    """UTC, ISO 8601; for people."""

    @property
    def label(self) -> str:
        """The kind and the holder."""
        return f"{self.kind} {self.holder}"


def pin(store: ArtefactStore, digest: Digest, what: Pin) -> None:
    """Hold a digest that is in the store; the same pin again changes nothing.

    Raises ArtefactAbsentError, and PinError when this holder holds it for another reason.
    """
    place = _place(store, digest, what)
    with store.lock():
        store.path(digest)
        if place.exists() and (before := _read(place)).reason != what.reason:
            raise PinError(f"{digest}: {what.label} holds it already ({before.reason}); take that pin away first")
        if not place.exists():
            content = json.dumps(asdict(what), indent=1, sort_keys=True).encode() + b"\n"
            replace_file(place, content, store.unfinished)
            sync_directory(place.parent.parent)


def hold_alone(store: ArtefactStore, digest: Digest, what: Pin) -> None:
    """Hold this digest, and let go of others that this holder held: as a name that moves. Raises as `pin` does."""
    if what in pins_of(store, digest):
        return
    pin(store, digest, what)
    for other, pins in all_pins(store).items():
        if other != digest and what.label in {one.label for one in pins}:
            unpin(store, other, what.kind, what.holder)


def unpin(store: ArtefactStore, digest: Digest, kind: PinKind, holder: str) -> None:
    """Let it go; the files stay until a collection. Raises PinError when this holder does not hold it."""
    place = _place(store, digest, Pin(kind, holder, ""))
    try:
        place.unlink()
    except FileNotFoundError as error:
        holders = ", ".join(one.label for one in pins_of(store, digest)) or "nobody"
        raise PinError(f"{digest}: {kind} {holder} does not hold it; who does: {holders}") from error
    sync_directory(place.parent)
    with contextlib.suppress(OSError):
        place.parent.rmdir()


def pins_of(store: ArtefactStore, digest: Digest) -> tuple[Pin, ...]:
    """The pins of one digest that are files. Raises PinError."""
    folder = store.root / "pins" / hex_of(parse_digest(digest))
    return tuple(_read(path) for path in sorted(folder.glob("*.json")))


def all_pins(store: ArtefactStore) -> Mapping[Digest, tuple[Pin, ...]]:
    """The pins that are files. Raises PinError: a pin that cannot be read holds everything."""
    folders = sorted((store.root / "pins").glob("[0-9a-f]" * 64))
    found = {digest: pins_of(store, digest) for digest in (parse_digest(f"sha256:{one.name}") for one in folders)}
    return {digest: pins for digest, pins in found.items() if pins}


def now_text(at: datetime) -> str:
    """As it stands in a pin."""
    return at.isoformat(timespec="seconds")


def _place(store: ArtefactStore, digest: Digest, what: Pin) -> Path:
    if not _HOLDER.fullmatch(what.holder):
        raise PinError(f"{what.holder[:100]!r}: a holder is named with a-z, 0-9, dots and dashes, up to 100")
    return store.root / "pins" / hex_of(parse_digest(digest)) / f"{what.kind}-{what.holder}.json"


def _read(path: Path) -> Pin:
    try:
        document = json.loads(path.read_bytes())
        return Pin(**{**document, "kind": PinKind(document["kind"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise PinError(f"{path}: is no pin ({error}); correct it, or delete it when nobody needs the image") from error
