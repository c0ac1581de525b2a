"""`firstlight image`: what image profiles say, where they say it, and what would be installed."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from profiles.compat.load import load_facts
from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.images.debian import DebianImage
from profiles.images.driver_check import ImageReason, check_driver
from profiles.images.egress import egress_ruleset
from profiles.images.explain import explain
from profiles.images.load import LoadedImage, load_images
from profiles.images.package_index import IndexFaultError, Package, PackageIndex, package_index, read_packages
from profiles.images.resolve import Refused, resolve
from profiles.loader import IMAGES, SHIPPED
from provisioner.commands.console import say
from provisioner.commands.image_text import explanation_text, list_text, lock_text, reasons_text
from provisioner.errors import BadInput

image_app = typer.Typer(help="Image profiles: what they say, where, and what would be installed.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of an image profile.")]
Profiles = Annotated[Path, typer.Option(metavar="DIR", help="Where profiles are.", show_default="the shipped ones")]
Day = Annotated[
    datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="Today where absent.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@image_app.command("list")
def list_images(profiles: Profiles = SHIPPED, as_json: AsJson = False) -> None:
    """Every profile, and what it inherits from."""
    images = _load(profiles)
    if as_json:
        lines = [
            {"name": name, "root": one.document.value["root"], "arch": one.document.value.get("arch")}
            | {"abstract": one.profile is None, "chain": one.chain}
            for name, one in images.items()
        ]
        typer.echo(orjson.dumps(lines, option=orjson.OPT_INDENT_2))
        return
    say(list_text(images))


@image_app.command("explain")
def explain_image(name: Name, profiles: Profiles = SHIPPED, as_json: AsJson = False) -> None:
    """Each value with the file and line that it comes from, and what it won against."""
    explained = explain(_one(_load(profiles), name))
    if as_json:
        typer.echo(orjson.dumps(explained, option=orjson.OPT_INDENT_2))
        return
    say(explanation_text(explained))


@image_app.command("check")
def check_image(name: Name, profiles: Profiles = SHIPPED, day: Day = None, as_json: AsJson = False) -> None:
    """Does its driver fit its GPUs, kernel and programs? Exit codes: 0 ok, 1 not, 2 bad input."""
    loaded = _one(_load(profiles), name)
    reasons = check_driver(_debian(loaded, name), load_facts(), _date(day), {})
    _tell(loaded, reasons, as_json=as_json)
    if not as_json:
        typer.echo(f"ok: {name}")


@image_app.command("lock")
def lock_image(
    name: Name,
    packages: Annotated[
        list[Path], typer.Option(metavar="FILE", help="A Packages file of a mirror, uncompressed. May be repeated.")
    ],
    profiles: Profiles = SHIPPED,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """Every package with version and digest, or every reason why there is no lock. Reads files, asks no network."""
    loaded = _one(_load(profiles), name)
    lock = resolve(_debian(loaded, name), _index(packages), load_facts(), _date(day))
    if isinstance(lock, Refused):
        _tell(loaded, lock.reasons, as_json=as_json)
    elif as_json:
        typer.echo(lock.canonical_json())
    else:
        say(lock_text(lock))


@image_app.command("egress")
def show_egress(name: Name, profiles: Profiles = SHIPPED) -> None:
    """What it may connect to, as the nftables ruleset of the image."""
    typer.echo(egress_ruleset(_debian(_one(_load(profiles), name), name)), nl=False)


def _load(directory: Path) -> Mapping[str, LoadedImage]:
    paths = sorted((directory / IMAGES).glob("*.yaml"))
    if not paths:
        raise BadInput(f"{directory / IMAGES} holds no profiles")
    images, findings = load_images(paths)
    if findings:
        raise BadInput(str(ProfileError(findings)))
    return images


def _one(images: Mapping[str, LoadedImage], name: str) -> LoadedImage:
    if name not in images:
        raise BadInput(f'there is no image "{name}"; {did_you_mean(name, images)}')
    return images[name]


def _debian(loaded: LoadedImage, name: str) -> DebianImage:
    if loaded.profile is None:
        raise BadInput(f"{name} is abstract: it is there for others to inherit; name one that inherits it")
    if not isinstance(loaded.profile, DebianImage):
        raise BadInput(f"{name} has root: {loaded.profile.root}, which has no packages; name one with root: debian")
    return loaded.profile


def _index(paths: list[Path]) -> PackageIndex:
    found: list[Package] = []
    for path in paths:
        try:
            found.extend(read_packages(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, IndexFaultError) as error:
            raise BadInput(f"{path}: {error}; name a Packages file, uncompressed") from error
    return package_index(found)


def _tell(loaded: LoadedImage, reasons: tuple[ImageReason, ...], *, as_json: bool) -> None:
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


def _date(day: datetime | None) -> date:
    return day.date() if day else datetime.now(UTC).date()
