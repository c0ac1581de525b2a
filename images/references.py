"""Which image a profile's name stands for now: `<data_dir>/images/<name>.json`, always replaced as a whole."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from images.digest import Digest, DigestError, parse_digest
from images.whole_files import write_whole

SCHEMA = "firstlight.image-reference/1"


class ReferenceUnreadableError(ValueError):
    """The file is no reference; the text names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What was built last under a name. `built_at` (UTC, ISO 8601) is for people and decides nothing."""

    name: str
    image: Digest
    profile_digest: str
    lock_digest: str
    build_key: str
    built_at: str


def read_reference(data_dir: Path, name: str) -> Reference | None:
    """Return the reference; None when no image was built under this name. Raises ReferenceUnreadableError."""
    path = _place(data_dir, name)
    try:
        document = json.loads(path.read_bytes())
        if document.pop("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        reference = Reference(**{**document, "image": parse_digest(document["image"])})
        if reference.name != name:
            raise ValueError(f"it is about {reference.name}")
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError, DigestError) as error:
        raise ReferenceUnreadableError(
            f"{path}: is no reference to an image ({error}); delete it and run: firstlight image build {name}"
        ) from error
    return reference


def write_reference(data_dir: Path, reference: Reference) -> None:
    """Point the name at the image; who reads meanwhile finds the old reference or the new one."""
    path = _place(data_dir, reference.name)
    content = json.dumps({"schema": SCHEMA, **asdict(reference)}, indent=2, sort_keys=True)
    write_whole(path, f"{content}\n".encode())


def _place(data_dir: Path, name: str) -> Path:
    if not name or name.startswith(".") or "/" in name:
        raise ValueError(f"{name!r} is no name of an image")
    return data_dir / "images" / f"{name}.json"
