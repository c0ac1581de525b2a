"""Image profiles for commands: reading them, choosing one, telling why it is refused."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.images.debian import DebianImage
from profiles.images.driver_check import ImageReason
from profiles.images.load import LoadedImage, load_images
from profiles.images.profile import ImageProfile
from profiles.loader import IMAGES
from provisioner.commands.console import say
from provisioner.commands.image_text import reasons_text
from provisioner.errors import BadInput

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of an image profile.")]
Profiles = Annotated[Path, typer.Option(metavar="DIR", help="Where profiles are.", show_default="the shipped ones")]


def load_profiles(directory: Path) -> Mapping[str, LoadedImage]:
    """Return every image profile of the folder; BadInput with everything that is wrong with them."""
    paths = sorted((directory / IMAGES).glob("*.yaml"))
    if not paths:
        raise BadInput(f"{directory / IMAGES} holds no profiles")
    images, findings = load_images(paths)
    if findings:
        raise BadInput(str(ProfileError(findings)))
    return images


def one_profile(images: Mapping[str, LoadedImage], name: str) -> LoadedImage:
    """Return the profile of the name."""
    if name not in images:
        raise BadInput(f'there is no image "{name}"; {did_you_mean(name, images)}')
    return images[name]


def concrete(loaded: LoadedImage, name: str) -> ImageProfile:
    """Return what is no mere parent of others."""
    if loaded.profile is None:
        raise BadInput(f"{name} is abstract: it is there for others to inherit; name one that inherits it")
    return loaded.profile


def debian(loaded: LoadedImage, name: str) -> DebianImage:
    """Return what has packages."""
    profile = concrete(loaded, name)
    if not isinstance(profile, DebianImage):
        raise BadInput(f"{name} has root: {profile.root}, which has no packages; name one with root: debian")
    return profile


def tell_reasons(loaded: LoadedImage, reasons: tuple[ImageReason, ...], *, as_json: bool) -> None:
    """Print every reason with its place, and exit 1; nothing where there is none."""
    placed: list[tuple[Finding, ImageReason]] = [(loaded.document.finding(one.field, one.text), one) for one in reasons]
    if as_json:
        told = [
            {"file": str(at.file), "line": at.line, "field": at.field, "severity": one.severity}
            | {"name": one.name, "text": one.text, "sources": one.sources}
            for at, one in placed
        ]
        typer.echo(orjson.dumps({"reasons": told}, option=orjson.OPT_INDENT_2))
    elif placed:
        say(reasons_text(placed))
    if reasons:
        raise typer.Exit(1)


def day_of(given: datetime | None) -> date:
    """Return the day that was given, or today."""
    return given.date() if given else datetime.now(UTC).date()
