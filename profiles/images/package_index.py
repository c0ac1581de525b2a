"""What a mirror offers: the paragraphs of its Packages files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key

from profiles.images.debian_version import compare_versions

PackageIndex = Mapping[str, tuple["Package", ...]]
"""Packages by name, the newest first."""


_NAMES = "Package|Version|Architecture|SHA256|Size|Filename|Pre-Depends|Depends|Provides|Essential|Priority"
_FIELD = re.compile(rf"^({_NAMES}):[ \t]*(.*\S)", re.MULTILINE)
_PROVIDED = re.compile(r"([a-z0-9][a-z0-9+.-]+)(?:\s*\(=\s*([^)\s]+)\s*\))?")


class IndexFaultError(ValueError):
    """A paragraph of a Packages file cannot be used."""


@dataclass(frozen=True, slots=True)
class Package:
    """One version of one package; `depends` are its Pre-Depends and Depends.

    `provides`: other names that it stands for, with the versions that it gives them, or None.
    """

    name: str
    version: str
    arch: str
    sha256: str
    size_bytes: int
    filename: str
    depends: str = ""
    provides: Mapping[str, str | None] = field(default_factory=dict)
    essential: bool = False


def package_index(packages: Iterable[Package]) -> PackageIndex:
    """Index the packages by name; two mirrors may offer the same one."""
    by_name: dict[str, dict[tuple[str, str], Package]] = {}
    for package in packages:
        by_name.setdefault(package.name, {}).setdefault((package.version, package.sha256), package)
    newest = cmp_to_key(_newer_first)
    return {
        name: tuple(sorted(found.values(), key=newest)) if len(found) > 1 else tuple(found.values())
        for name, found in sorted(by_name.items())
    }


def _newer_first(one: Package, other: Package) -> int:
    return compare_versions(other.version, one.version) or (one.sha256 > other.sha256) - (one.sha256 < other.sha256)


def read_packages(text: str) -> Iterator[Package]:
    """Yield the packages of a Packages file; raise IndexFaultError for a paragraph that lacks something."""
    for paragraph in text.split("\n\n"):
        if paragraph.strip():
            yield _package(dict(_FIELD.findall(paragraph)))


def _package(fields: dict[str, str]) -> Package:
    name = fields.get("Package", "a paragraph without a name")
    lacking = [one for one in ("Package", "Version", "Architecture", "SHA256", "Size") if not fields.get(one)]
    if lacking:
        raise IndexFaultError(f"{name}: lacks {', '.join(lacking)}")
    if len(fields["SHA256"]) != 64 or not fields["Size"].isdecimal():
        raise IndexFaultError(f"{name}: SHA256 or Size is not one")
    depends = ", ".join(fields[one] for one in ("Pre-Depends", "Depends") if fields.get(one))
    return Package(
        name=fields["Package"],
        version=fields["Version"],
        arch=fields["Architecture"],
        sha256=fields["SHA256"],
        size_bytes=int(fields["Size"]),
        filename=fields.get("Filename", ""),
        depends=depends,
        provides={name: version or None for name, version in _PROVIDED.findall(fields.get("Provides", ""))},
        essential=fields.get("Essential") == "yes" or fields.get("Priority") == "required",
    )
