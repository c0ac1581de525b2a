"""`firstlight image`: what image profiles say, where they say it, what would be installed, and building it."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from images.building.failures import BuildFailedError, ImageRefusedError
from images.building.request import Stage
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.driver_check import check_driver
from profiles.images.egress import egress_ruleset
from profiles.images.explain import explain
from profiles.images.lock import Lock
from profiles.images.package_index import IndexFaultError, Package, PackageIndex, package_index, read_packages
from profiles.images.resolve import Refused, resolve
from profiles.loader import SHIPPED
from provisioner.commands.build_report import build_report
from provisioner.commands.console import say
from provisioner.commands.image_build import build_image_command
from provisioner.commands.image_profiles import (
    Name,
    Profiles,
    day_of,
    debian,
    load_profiles,
    one_profile,
    tell_reasons,
)
from provisioner.commands.image_statements import countersign_command, statements_command
from provisioner.commands.image_store import (
    DataDir,
    gc_command,
    hold_command,
    list_stored,
    pins_command,
    release_hold_command,
)
from provisioner.commands.image_supplies import Config, data_dir_of, site_here, supplies_of
from provisioner.commands.image_text import explanation_text, list_text, lock_text
from provisioner.errors import BadInput
from provisioner.settings import Site

image_app = typer.Typer(help="Image profiles: what they say, where, and the images of them.", no_args_is_help=True)
image_app.command("build")(build_image_command)
image_app.command("pins")(pins_command)
image_app.command("hold")(hold_command)
image_app.command("release-hold")(release_hold_command)
image_app.command("gc")(gc_command)
image_app.command("statements")(statements_command)
image_app.command("countersign")(countersign_command)

Day = Annotated[
    datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="Today where absent.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@image_app.command("list")
def list_images(
    profiles: Profiles = SHIPPED,
    as_json: AsJson = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="The images in the store instead, and who holds them.")
    ] = False,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Every profile, and what it inherits from; or every image that was built or imported."""
    if stored:
        list_stored(config, data_dir, as_json=as_json)
        return
    images = load_profiles(profiles)
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
    explained = explain(one_profile(load_profiles(profiles), name))
    if as_json:
        typer.echo(orjson.dumps(explained, option=orjson.OPT_INDENT_2))
        return
    say(explanation_text(explained))


@image_app.command("check")
def check_image(name: Name, profiles: Profiles = SHIPPED, day: Day = None, as_json: AsJson = False) -> None:
    """Does its driver fit its GPUs, kernel and programs? Exit codes: 0 ok, 1 not, 2 bad input."""
    loaded = one_profile(load_profiles(profiles), name)
    reasons = check_driver(debian(loaded, name), load_facts(), day_of(day), {})
    tell_reasons(loaded, reasons, as_json=as_json)
    if not as_json:
        typer.echo(f"ok: {name}")


@image_app.command("lock")
def lock_image(
    name: Name,
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A Packages file of a mirror, uncompressed, instead of asking the mirrors. May be repeated.",
        ),
    ] = None,
    config: Config = None,
    profiles: Profiles = SHIPPED,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """Every package with version and digest, or every reason why there is no lock. Downloads indices, no packages."""
    loaded = one_profile(load_profiles(profiles), name)
    image = debian(loaded, name)
    if packages:
        lock = resolve(image, _index(packages), load_facts(), day_of(day))
    else:
        lock = _lock_of_mirrors(image, site_here(config), day_of(day))
    if isinstance(lock, Refused):
        tell_reasons(loaded, lock.reasons, as_json=as_json)
    elif as_json:
        typer.echo(lock.canonical_json())
    else:
        say(lock_text(lock))


@image_app.command("egress")
def show_egress(name: Name, profiles: Profiles = SHIPPED) -> None:
    """What it may connect to, as the nftables ruleset of the image."""
    typer.echo(egress_ruleset(debian(one_profile(load_profiles(profiles), name), name)), nl=False)


def _lock_of_mirrors(image: DebianImage, site: Site | None, on: date) -> Lock | Refused:
    """The lock that a build would begin with."""
    supplies = supplies_of(image, site, data_dir_of(site), on)
    try:
        with build_report(image.name) as report:
            report.begin(Stage.RESOLVE)
            return supplies.resolve(report)
    except ImageRefusedError as error:
        return Refused(error.reasons)
    except BuildFailedError as error:
        typer.echo(f"{image.name}: {error}", err=True)
        raise typer.Exit(1) from error


def _index(paths: list[Path]) -> PackageIndex:
    found: list[Package] = []
    for path in paths:
        try:
            found.extend(read_packages(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, IndexFaultError) as error:
            raise BadInput(f"{path}: {error}; name a Packages file, uncompressed") from error
    return package_index(found)
