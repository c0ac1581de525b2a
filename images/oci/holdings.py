"""Who holds what in a data directory, as far as files say so: pins, names of images, boot programs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from images.digest import Digest, parse_digest
from images.oci.pins import Pin, PinError, PinKind, all_pins
from images.references import ReferenceUnreadableError, read_reference
from images.store import ArtefactStore

_BOOT_PROGRAMS = "boot-programs"
Pins = Mapping[Digest, tuple[Pin, ...]]


@dataclass(frozen=True, slots=True)
class Holdings:
    """`pins`: what stays. `programs`: digest of a boot program -> its image, with which it comes and goes."""

    pins: Pins
    programs: Mapping[Digest, Digest]


def holdings_in(data_dir: Path, store: ArtefactStore) -> Holdings:
    """Read all of it. Raises PinError for a file that cannot be read: it may hold anything."""
    loaders, programs = _boot_programs(data_dir)
    return Holdings(merged((all_pins(store), _names(data_dir), loaders)), programs)


def merged(several: Iterable[Pins]) -> Pins:
    """All pins, those of one digest together."""
    found: dict[Digest, tuple[Pin, ...]] = {}
    for pins in several:
        for digest, held in pins.items():
            found[digest] = (*found.get(digest, ()), *held)
    return found


def _names(data_dir: Path) -> Pins:
    found = []
    for path in sorted((data_dir / "images").glob("*.json")):
        try:
            reference = read_reference(data_dir, path.stem)
        except (ReferenceUnreadableError, ValueError, OSError) as error:
            raise PinError(str(error)) from error
        if reference is not None:
            found.append({reference.image: (Pin(PinKind.NAME, path.stem, "the newest image of this name"),)})
    return merged(found)


def _boot_programs(data_dir: Path) -> tuple[Pins, Mapping[Digest, Digest]]:
    loaders, programs = [], {}
    for path in sorted((data_dir / _BOOT_PROGRAMS).glob("*.json")):
        try:
            note = json.loads(path.read_bytes())
            program = parse_digest(note["program"]["digest"])
            if "image" in note:
                programs[program] = parse_digest(note["image"])
            else:
                loaders.append({program: (Pin(PinKind.BOOT, "loader", "the site's iPXE"),)})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PinError(f"{path}: cannot be read ({error}); delete it: the program is made again") from error
    return merged(loaders), programs
