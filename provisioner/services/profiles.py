"""What people may ask about profiles before they write them into a file: is it right, what does it come to, and why.

Nothing is kept. A document is read as the loader would read the file with it.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from profiles.findings import Finding as FileFinding
from profiles.findings import ProfileError, did_you_mean
from profiles.images.explain import Explained, explain
from profiles.images.load import LoadedImage, load_images
from profiles.loader import FIRMWARE_CATALOGS, IMAGES, KINDS
from profiles.models import ReleaseProfile
from profiles.validation import check_name, validate
from profiles.yaml_source import read_yaml
from provisioner.errors import BadInput, NotFound, Refused

Finding = tuple[str, str]
"""A JSON pointer into the document, and the text."""
Document = Mapping[str, Any]

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII)
_STEPS = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")


class Kind(StrEnum):
    """Folders of profiles."""

    HARDWARE = "hardware"
    BIOS = "bios"
    FIRMWARE = "firmware"
    CATALOGS = FIRMWARE_CATALOGS
    IMAGES = IMAGES
    BURN_IN = "burnin"
    RELEASES = "releases"


@dataclass(frozen=True, slots=True)
class ProfileReader:
    """Reads documents beside the profiles of a folder."""

    folder: Path

    def validate(self, kind: Kind, document: Document) -> Sequence[Finding]:
        """Everything that is wrong with it alone; none: it is right. What it inherits is read from the folder."""
        with tempfile.TemporaryDirectory(prefix="firstlight-") as scratch:
            path = _written(Path(scratch), kind, document)
            if kind is Kind.IMAGES:
                _, findings = self._images(path)
                return [_pointed(one, path) for one in findings]
            try:
                located = read_yaml(path)
                validate(KINDS[kind], located)
                check_name(located, "hardware_class" if kind is Kind.CATALOGS else "name")
            except ProfileError as error:
                return [_pointed(one, path) for one in error.findings]
        return []

    def image(self, name: str | None, document: Document | None) -> LoadedImage:
        """One by name, or as a document says. Raises `NotFound`, and `Refused` with everything that is wrong."""
        if document is None:
            return self._named(name or "")
        with tempfile.TemporaryDirectory(prefix="firstlight-") as scratch:
            path = _written(Path(scratch), Kind.IMAGES, document)
            images, findings = self._images(path)
            if findings:
                raise Refused(path.stem, [_pointed(one, path, "/document") for one in findings])
            return images[path.stem]

    def release(self, document: Document) -> ReleaseProfile:
        """As a document says. Raises `Refused` with everything that is wrong."""
        found = self.validate(Kind.RELEASES, document)
        if found:
            raise Refused("release", [(f"/document{pointer}", text) for pointer, text in found])
        return ReleaseProfile.model_validate(document)

    def explain(self, name: str | None, document: Document | None) -> Sequence[Explained]:
        """Where each value of an image comes from, and what it won against. Raises as `image`."""
        return explain(self.image(name, document))

    def _images(self, path: Path) -> tuple[Mapping[str, LoadedImage], list[FileFinding]]:
        """The image of `path` with the others of the folder to inherit from; what is wrong with that image."""
        others = [one for one in sorted((self.folder / IMAGES).glob("*.yaml")) if one.stem != path.stem]
        images, findings = load_images([*others, path])
        _, known = load_images(others)
        return images, [one for one in findings if one not in known]

    def _named(self, name: str) -> LoadedImage:
        images, findings = load_images(sorted((self.folder / IMAGES).glob("*.yaml")))
        if name in images:
            return images[name]
        if findings:
            raise BadInput(str(ProfileError(findings)))
        raise NotFound(f"there is no image {name}; {did_you_mean(name, images)}")


def _written(scratch: Path, kind: Kind, document: Document) -> Path:
    """JSON is YAML, but for texts that YAML takes for something else, which the reader tells."""
    key = "hardware_class" if kind is Kind.CATALOGS else "name"
    name = document.get(key)
    stem = name if isinstance(name, str) and len(name) < 64 and _NAME.fullmatch(name) else "document"
    path = scratch / f"{stem}.yaml"
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
    return path


def _pointed(finding: FileFinding, path: Path, base: str = "") -> Finding:
    """What is wrong in a parent has no place in the document: its file and line are told."""
    hint = f"; {finding.hint}" if finding.hint else ""
    if finding.file != path:
        return base, f"{finding.file.name}:{finding.line}: {finding.field}: {finding.message}{hint}"
    return base + "".join(f"/{step}" for step in _steps(finding.field)), f"{finding.message}{hint}"


def _steps(field: str) -> Iterator[str]:
    """Of `components[0].version`."""
    for number, name in _STEPS.findall(field):
        yield number or name.replace("~", "~0").replace("/", "~1")
