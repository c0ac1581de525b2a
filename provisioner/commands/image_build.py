"""`firstlight image build`: from a profile to an image in the store."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from images.build import build_image
from images.building.build import build_debian_image
from images.building.failures import BuildFailedError, ImageRefusedError
from images.building.privileges import become_root
from images.building.request import BuildRequest, PublishLevel
from images.store import ArtefactStore
from profiles.images.debian import DebianImage
from profiles.loader import SHIPPED
from provisioner.commands.build_report import build_report
from provisioner.commands.image_profiles import Name, concrete, day_of, load_profiles, one_profile, tell_reasons
from provisioner.commands.image_supplies import Config, data_dir_of, site_here, supplies_of
from provisioner.settings import Site


def build_image_command(
    name: Name,
    config: Config = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where images go.", show_default="the site's")
    ] = None,
    profiles: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where profiles are.", show_default="the site's, or the shipped")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Choose packages anew from what the mirrors have now.")
    ] = False,
    level: Annotated[
        PublishLevel, typer.Option("--publish-level", help="high: a smaller root, minutes of compressing.")
    ] = PublishLevel.LOW,
) -> None:
    """Build an image; what has not changed is not done again. The last line is its digest.

    Exit codes: 0 built, or there already; 1 not; 2 bad input.
    """
    site = site_here(config)
    place = data_dir or data_dir_of(site)
    loaded = one_profile(load_profiles(profiles or (site and site.profiles) or SHIPPED), name)
    profile = concrete(loaded, name)
    if not isinstance(profile, DebianImage):
        typer.echo(build_image(profile.name, profile.arch, ArtefactStore(place / "artefacts")).digest)
        return
    try:
        become_root([sys.executable, "-m", "provisioner", *sys.argv[1:]])
        with build_report(profile.name) as report:
            request = replace(_request(profile, site, place), update=update, level=level)
            built = build_debian_image(request, report)
    except ImageRefusedError as error:
        tell_reasons(loaded, error.reasons, as_json=False)
    except BuildFailedError as error:
        typer.echo(f"{name}: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(built.manifest.digest)


def _request(image: DebianImage, site: Site | None, place: Path) -> BuildRequest:
    supplies = supplies_of(image, site, place, day_of(None))
    return BuildRequest(
        image=image,
        data_dir=place,
        supplies=supplies,
        site_files=site.site_files if site else None,
        certificates=supplies.certificates,
    )
