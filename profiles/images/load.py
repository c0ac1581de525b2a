"""All image profiles of a folder: read, merged with what they inherit, and judged, with every finding at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.images.debian import DebianImage
from profiles.images.inherit import Inherited, inherit
from profiles.images.merged import Merged
from profiles.images.profile import ROOTS, ImageProfile
from profiles.models import AgentImage
from profiles.validation import MISSING, check_name, validate, validate_part
from profiles.yaml_source import Located, read_yaml


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """A profile with everything it inherits; None for an abstract one. `chain`: from the eldest to itself."""

    profile: ImageProfile | None
    document: Merged
    chain: tuple[str, ...]


def load_images(paths: Iterable[Path]) -> tuple[Mapping[str, LoadedImage], list[Finding]]:
    """Return the profiles that are right, by name, and what is wrong with the others; a mistake is told once."""
    findings: list[Finding] = []
    documents: dict[str, Located] = {}
    unreadable = set()
    for path in paths:
        try:
            documents[path.stem] = read_yaml(path)
        except ProfileError as error:
            unreadable.add(path.stem)
            findings.extend(error.findings)
    merged, of_inheritance = inherit(documents, frozenset(unreadable))
    findings.extend(of_inheritance)
    images = {}
    for name, inherited in merged.items():
        try:
            images[name] = _judge(inherited)
        except ProfileError as error:
            findings.extend(error.findings)
    return images, list(dict.fromkeys(findings))


def _judge(inherited: Inherited) -> LoadedImage:
    document = inherited.document
    model = ROOTS[_root(document)]
    if document.value.get("abstract") is True:
        validate_part(model, document)
        check_name(document)
        return LoadedImage(None, document, inherited.chain)
    profile = validate(model, document)
    check_name(document)
    if not isinstance(profile, AgentImage | DebianImage):
        raise TypeError(f"{model.__name__} is no image profile")
    return LoadedImage(profile, document, inherited.chain)


def _root(document: Merged) -> str:
    """The kind of root, which says what all the other fields mean."""
    root = document.value.get("root")
    if "root" not in document.value:
        raise ProfileError([document.finding(("root",), MISSING, f"write one of {', '.join(ROOTS)}")])
    if not isinstance(root, str) or root not in ROOTS:
        message = f"{root!r} is not one of {', '.join(ROOTS)}"
        raise ProfileError([document.finding(("root",), message, did_you_mean(str(root), ROOTS))])
    return root
