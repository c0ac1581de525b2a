"""`firstlight image build`: from a profile to an image in the store."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from images.boot_program.signing import SigningPair
from images.build import build_image
from images.building.build import build_debian_image
from images.building.failures import BuildFailedError, ImageRefusedError
from images.building.privileges import become_root
from images.building.request import BuildRequest, PublishLevel
from images.building.supplies import SiteSupplies
from images.mirror.source import Source
from images.modules.errors import ModuleError
from images.modules.key import certificate_pem
from images.store import ArtefactStore
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.loader import SHIPPED
from provisioner.commands.build_report import build_report
from provisioner.commands.image_profiles import Name, concrete, day_of, load_profiles, one_profile, tell_reasons
from provisioner.errors import BadInput
from provisioner.settings import Environment, Site, load_site

_SITE = Path("site.yaml")


def build_image_command(
    name: Name,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="The site: its mirrors, keys and files.", show_default="site.yaml, if any"),
    ] = None,
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
    site = _site(config)
    place = data_dir or (site.data_dir if site else Environment().data_dir or Path("firstlight-data"))
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


def _site(config: Path | None) -> Site | None:
    """The site that was named, or that of this folder; None where there is none."""
    if config is None and not _SITE.exists():
        return None
    return load_site(config or _SITE, Environment())


def _request(image: DebianImage, site: Site | None, place: Path) -> BuildRequest:
    keys = site.signing_keys if site else {}
    signing = {name: SigningPair(one.key, one.certificate) for name, one in keys.items()}
    try:
        certificates = {name: certificate_pem(pair.certificate) for name, pair in signing.items()}
    except ModuleError as error:
        raise BadInput(str(error)) from error
    supplies = SiteSupplies(
        image=image,
        sources=_sources(site),
        cache=place.resolve() / "packages",
        facts=load_facts(),
        on=day_of(None),
        signing=signing,
        certificates=certificates,
    )
    return BuildRequest(
        image=image,
        data_dir=place,
        supplies=supplies,
        site_files=site.site_files if site else None,
        certificates=certificates,
    )


def _sources(site: Site | None) -> dict[str, tuple[Source, ...]]:
    """The site's mirrors as the mirror knows them."""
    mirrors = site.mirrors if site else {}
    return {
        name: tuple(Source(one.uri, one.folder, one.suites, one.keyring) for one in sources)
        for name, sources in mirrors.items()
    }
