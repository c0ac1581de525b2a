"""`firstlight doctor`: is everything here that the service needs, and is it well?"""

import shutil
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from images.digest import parse_digest
from images.store import ArtefactAbsentError, ArtefactStore
from provisioner.errors import FirstlightError
from provisioner.network_boot.readiness import lacks
from provisioner.secrets.key_file import read_keys
from provisioner.settings import Environment, Site, load_site
from provisioner.store.checking import check_database
from provisioner.wiring import Checked, check

_FREE_BYTES = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `remedy`: what to do where it is not well."""

    what: str
    well: bool
    remedy: str = ""


def doctor(config: Annotated[Path, typer.Option("--config", "-c", help="site.yaml")] = Path("site.yaml")) -> None:
    """Look at configuration, files, database and the running service; says what to do where something is not well."""
    environment = Environment()
    checked = check(load_site(config, environment))
    findings = [Finding(f"{config}, profiles and expected list", well=True), *_look(checked, environment)]
    console = Console()
    for finding in findings:
        mark = "[green]ok[/]  " if finding.well else "[red]not[/] "
        console.print(f"{mark} {finding.what}", highlight=False)
        if not finding.well:
            console.print(f"     {finding.remedy}", highlight=False)
    if not all(finding.well for finding in findings):
        raise typer.Exit(1)


def _look(checked: Checked, environment: Environment) -> Iterator[Finding]:
    site = checked.site
    yield _room(site)
    yield _key(environment.key_file or site.data_dir / "secret.key")
    yield _tried(lambda: check_database(site.database), "database")
    yield from _packages(checked)
    yield from (Finding(one.what, well=False, remedy=one.remedy) for one in lacks(site.network_boot, site.url))
    yield _service(site)


def _room(site: Site) -> Finding:
    folder = next(one for one in (site.data_dir, *site.data_dir.parents) if one.exists())
    free = shutil.disk_usage(folder).free
    return Finding(
        f"{site.data_dir}: {free / 2**30:.1f} GiB free",
        well=free >= _FREE_BYTES,
        remedy="free at least 2 GiB, or move data_dir in site.yaml",
    )


def _key(path: Path) -> Finding:
    if not path.exists():
        return Finding(f"{path}: not there yet; the first start makes it", well=True)

    def look() -> str:
        return f"{path}: {len(read_keys(path))} keys, readable by its owner only"

    return _tried(look, str(path))


def _packages(checked: Checked) -> Iterator[Finding]:
    site, artefacts = checked.site, ArtefactStore(checked.site.data_dir / "artefacts")
    for release in site.releases.values():
        bundle = checked.catalog.firmware_bundles[checked.catalog.releases[release].firmware]
        for component in bundle.components:
            file = component.artefact.file
            there = site.firmware_dir is not None and (site.firmware_dir / file).is_file()
            if not there and not _stored(artefacts, component.artefact.sha256):
                remedy = "put it into the folder that site.yaml names as firmware_dir"
                yield Finding(f"{bundle.name}: package {file}", well=False, remedy=remedy)


def _stored(artefacts: ArtefactStore, sha256: str) -> bool:
    try:
        artefacts.path(parse_digest(f"sha256:{sha256}"))
    except ArtefactAbsentError:
        return False
    return True


def _service(site: Site) -> Finding:
    url = f"{site.url}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  the site's own address
            well = answer.status == 200
    except OSError as error:
        return Finding(f"{url}: {error}", well=False, remedy="start it: firstlight serve --config site.yaml")
    return Finding(url, well=well, remedy="see its log")


def _tried(look: Callable[[], str], what: str) -> Finding:
    try:
        return Finding(look(), well=True)
    except FirstlightError as error:
        return Finding(what, well=False, remedy=str(error))
