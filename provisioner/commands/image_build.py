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
from images.building.request import BuildRequest, Built, PublishLevel
from images.manifest import ManifestError
from images.store import ArtefactError, ArtefactStore
from profiles.images.debian import DebianImage
from profiles.images.load import LoadedImage
from profiles.loader import SHIPPED
from provisioner.commands.build_report import build_report
from provisioner.commands.image_profiles import Name, concrete, day_of, load_profiles, one_profile, tell_reasons
from provisioner.commands.image_supplies import Config, data_dir_of, site_here, supplies_of
from provisioner.errors import FirstlightError
from provisioner.settings import Site

DataDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where images go.", show_default="the site's")]
ProfileDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where profiles are.", show_default="the site's, or the shipped")
]
Update = Annotated[bool, typer.Option("--update", help="Choose packages anew from what the mirrors have now.")]
Level = Annotated[PublishLevel, typer.Option("--publish-level", help="high: a smaller root, minutes of compressing.")]
Keys = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Who signs what is said of it.", show_default="the site's trust.keys"),
]


def build_image_command(
    name: Name,
    config: Config = None,
    data_dir: DataDir = None,
    profiles: ProfileDir = None,
    update: Update = False,
    level: Level = PublishLevel.LOW,
    keys: Keys = None,
) -> None:
    """Build an image; what has not changed is not done again. The last line is its digest.

    Where private targets keys lie in the folder of keys, provenance, SBOM and test results are signed with all of them.

    Exit codes: 0 built, or there already; 1 not; 2 bad input.
    """
    site = site_here(config)
    place = data_dir or data_dir_of(site)
    loaded = one_profile(load_profiles(profiles or (site and site.profiles) or SHIPPED), name)
    profile = concrete(loaded, name)
    if not isinstance(profile, DebianImage):
        typer.echo(build_image(profile.name, profile.arch, ArtefactStore(place / "artefacts")).digest)
        return
    built = _built(loaded, replace(_request(profile, site, place), update=update, level=level))
    if keys is None and site is not None and site.trust is not None:
        keys = site.trust.keys
    if keys is not None:
        _say_of(built, place, keys)
    typer.echo(built.manifest.digest)


def _built(loaded: LoadedImage, request: BuildRequest) -> Built:
    name = request.image.name
    try:
        become_root([sys.executable, "-m", "provisioner", *sys.argv[1:]])
        with build_report(name) as report:
            return build_debian_image(request, report)
    except ImageRefusedError as error:
        tell_reasons(loaded, error.reasons, as_json=False)
        raise typer.Exit(1) from error
    except BuildFailedError as error:
        typer.echo(f"{name}: {error}", err=True)
        raise typer.Exit(1) from error


def _say_of(built: Built, place: Path, keys: Path) -> None:
    # Here, because a build without keys does without the time that their libraries take.
    from provisioner.commands.build_statements import say_of_build

    try:
        count = say_of_build(built, place, keys)
    except (ArtefactError, ManifestError) as error:
        raise FirstlightError(f"{error}; the image was built, but nothing is said of it") from error
    if count:
        typer.echo(f"{built.manifest.name}: {count} statements signed", err=True)


def _request(image: DebianImage, site: Site | None, place: Path) -> BuildRequest:
    supplies = supplies_of(image, site, place, day_of(None))
    return BuildRequest(
        image=image,
        data_dir=place,
        supplies=supplies,
        site_files=site.site_files if site else None,
        certificates=supplies.certificates,
    )
