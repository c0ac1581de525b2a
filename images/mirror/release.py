"""The Release file of a suite: what it is, how long it holds, and the digests of its indices."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from images.mirror.paragraphs import read_paragraphs

_FILE = re.compile(r"([0-9a-f]{64})\s+(\d+)\s+(\S+)")
_INDEX = re.compile(r"(.+)/binary-([a-z0-9-]+)/Packages(?:\.xz|\.gz)?")
_CLOCKS_DIFFER = timedelta(days=1)


class ReleaseError(ValueError):
    """The file is no Release."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file that the Release names; `path` is below the folder of the Release."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Release:
    """`files` by path. `all_apart`: packages for every architecture have an index of their own."""

    names: tuple[str, ...]
    date: datetime
    valid_until: datetime | None
    by_hash: bool
    all_apart: bool
    files: Mapping[str, IndexFile]

    def components(self) -> tuple[str, ...]:
        """Return the components that have an index of packages, for whatever architecture."""
        return tuple(sorted({found[1] for path in self.files if (found := _INDEX.fullmatch(path))}))

    def architectures(self) -> tuple[str, ...]:
        """Return the architectures that have an index of packages."""
        return tuple(sorted({found[2] for path in self.files if (found := _INDEX.fullmatch(path))}))

    def smallest(self, path: str) -> tuple[IndexFile, IndexFile] | None:
        """Return how to fetch the file, and what it is when unpacked; None where it has none of the kinds we read."""
        for ending in (".xz", ".gz", ""):
            if found := self.files.get(path + ending):
                return found, self.files.get(path, found)
        return None


def parse_release(text: str) -> Release:
    """Read the text; raises ReleaseError."""
    fields = next(read_paragraphs(text), {})
    if "sha256" not in fields or "date" not in fields:
        raise ReleaseError("it is no Release file with a Date and SHA256 digests")
    found = [
        IndexFile(path.removeprefix("./"), digest, int(size)) for digest, size, path in _FILE.findall(fields["sha256"])
    ]
    apart = "all" in fields.get("architectures", "").split() and "no-support-for-architecture-all" not in fields
    return Release(
        names=tuple(fields[name] for name in ("codename", "suite") if fields.get(name)),
        date=_time(fields["date"]),
        valid_until=_time(fields["valid-until"]) if "valid-until" in fields else None,
        by_hash=fields.get("acquire-by-hash") == "yes",
        all_apart=apart,
        files={one.path: one for one in found},
    )


def check_release(release: Release, suite: str, now: datetime, snapshot: datetime) -> Iterator[str]:
    """Yield what is wrong. One valid at the profile's snapshot is good: a mirror may stand still on purpose."""
    if not suite.endswith("/") and suite not in release.names:
        names = " or ".join(release.names) or "an unnamed suite"
        yield f"it is the Release of {names}; correct the suite or the address"
    if release.date > now + _CLOCKS_DIFFER:
        yield f"it is of {release.date:%Y-%m-%d %H:%M} UTC, which has not come yet; set the clock of the build host"
    until = release.valid_until
    if until is not None and until < min(now, snapshot):
        yield (
            f"it was valid until {until:%Y-%m-%d %H:%M} UTC: the mirror is no longer updated; ask another mirror, "
            "or set base.snapshot to a day of this one"
        )


def _time(text: str) -> datetime:
    try:
        found = parsedate_to_datetime(text)
    except ValueError as error:
        raise ReleaseError(f"{text!r} is no date") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
