"""What an image is made of, by the site's own configuration: its mirrors, its keys and where things are kept."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from images.boot_program.signing import SigningPair
from images.building.supplies import SiteSupplies
from images.mirror.source import Source
from images.modules.errors import ModuleError
from images.modules.key import certificate_pem
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from provisioner.errors import BadInput
from provisioner.settings import Environment, Site, load_site

_SITE = Path("site.yaml")

Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The site: its mirrors, keys and files.", show_default="site.yaml, if any"),
]


def site_here(config: Path | None) -> Site | None:
    """Return the site that was named, or that of this folder; None where there is none."""
    if config is None and not _SITE.exists():
        return None
    return load_site(config or _SITE, Environment())


def data_dir_of(site: Site | None) -> Path:
    """Return where images and what they are made of are kept."""
    return site.data_dir if site else Environment().data_dir or Path("firstlight-data")


def supplies_of(image: DebianImage, site: Site | None, place: Path, on: date) -> SiteSupplies:
    """Return where the packages of an image come from; what is fetched is kept below `place`."""
    keys = site.signing_keys if site else {}
    signing = {name: SigningPair(one.key, one.certificate) for name, one in keys.items()}
    try:
        certificates = {name: certificate_pem(pair.certificate) for name, pair in signing.items()}
    except ModuleError as error:
        raise BadInput(str(error)) from error
    return SiteSupplies(
        image=image,
        sources=_sources(site),
        cache=place.resolve() / "packages",
        facts=load_facts(),
        on=on,
        signing=signing,
        certificates=certificates,
    )


def _sources(site: Site | None) -> dict[str, tuple[Source, ...]]:
    """The site's mirrors as the mirror knows them."""
    mirrors = site.mirrors if site else {}
    return {
        name: tuple(Source(one.uri, one.folder, one.suites, one.keyring) for one in sources)
        for name, sources in mirrors.items()
    }
