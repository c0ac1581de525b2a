"""The build host's own apt sources, as far as they are Debian's, for the suite of an image."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from images.mirror.errors import MirrorError
from images.mirror.paragraphs import read_paragraphs
from images.mirror.source import Source

_ONE_LINE = re.compile(r"deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)\s*(?:#.*)?")
_OWN_KEYS = re.compile(r"|[0-9A-Fa-f!,\s]+|/\S*/debian-archive-[^/\s]+")
"""What Signed-By says of Debian's keys: nothing, fingerprints, or a file of the package debian-archive-keyring."""
_SCHEMES = ("http://", "https://", "file:/")
_REMEDY = "name the mirror in site.yaml: mirrors: {debian: [{uri: ..., suites: ['{suite}', '{suite}-updates']}]}"


@dataclass(frozen=True, slots=True)
class _Entry:
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str


def host_sources(suite: str, etc: Path = Path("/etc")) -> tuple[Source, ...]:
    """Return what apt on this host asks for Debian, with the host's codename replaced by `suite`.

    Debian's own are the release, its updates and its security updates, signed by Debian's keys. Backports and other
    publishers' packages are not taken: they have to be named. Raises MirrorError when there are none.
    """
    codename = _codename(etc / "os-release")
    own = {codename, f"{codename}-updates", f"{codename}-security"}
    found: dict[Source, None] = {}
    for entry in _entries(etc / "apt"):
        suites = tuple(suite + one.removeprefix(codename) for one in entry.suites if one in own)
        reachable = entry.uri.startswith(_SCHEMES) and "main" in entry.components
        if suites and reachable and _OWN_KEYS.fullmatch(entry.signed_by):
            keyring = Path(entry.signed_by) if entry.signed_by.startswith("/") else None
            found[Source(uri=entry.uri, suites=suites, keyring=keyring)] = None
    if not found:
        raise MirrorError([f"{etc / 'apt'}: no enabled source is Debian's own ({codename} main); {_REMEDY}"])
    return tuple(found)


def _codename(path: Path) -> str:
    said = dict(line.partition("=")[::2] for line in path.read_text().splitlines()) if path.is_file() else {}
    codename = said.get("VERSION_CODENAME", "").strip('"')
    if said.get("ID", "").strip('"') != "debian" or not codename:
        raise MirrorError([f"{path}: the build host is not Debian, so its apt sources say no mirror; {_REMEDY}"])
    return codename


def _entries(apt: Path) -> Iterator[_Entry]:
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if path.is_file() and path.suffix == ".list":
            yield from _one_line_entries(path)
        elif path.is_file() and path.suffix == ".sources":
            yield from _paragraph_entries(path)


def _one_line_entries(path: Path) -> Iterator[_Entry]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if found := _ONE_LINE.fullmatch(line.strip()):
            options = [one.partition("=")[::2] for one in (found[1] or "").split()]
            signed_by = {name.lower(): value for name, value in options}.get("signed-by", "")
            yield _Entry(found[2], (found[3],), tuple(found[4].split()), signed_by)


def _paragraph_entries(path: Path) -> Iterator[_Entry]:
    for fields in read_paragraphs(path.read_text(encoding="utf-8", errors="replace")):
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0")
        if enabled and "deb" in fields.get("types", "").split():
            suites, components = tuple(fields.get("suites", "").split()), tuple(fields.get("components", "").split())
            for uri in fields.get("uris", "").split():
                yield _Entry(uri, suites, components, fields.get("signed-by", ""))
