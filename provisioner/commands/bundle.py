"""`firstlight bundle`: images and releases signed, in one file, for sites that no network reaches."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from images.bundle.admit import Admitted, Site, admit
from images.bundle.contents import IMAGE
from images.bundle.errors import BundleError
from images.bundle.export import export
from images.manifest import ManifestError
from images.store import ArtefactError
from images.trust.errors import TrustError
from images.trust.folder import TrustFolder, shipped_root, signers_in
from images.trust.keys import Role, read_signer
from images.trust.repository import Expiries, Signers, Target, add_root, publish, published, renew_timestamp
from provisioner.commands.bundle_names import Wanted, image_target, release_target
from provisioner.commands.image_holdings import Shelf, keys_folder, shelf_of
from provisioner.commands.image_supplies import Config
from provisioner.errors import BadInput, FirstlightError

bundle_app = typer.Typer(
    help="Images and releases, signed, in one file for sites without a network.", no_args_is_help=True
)

_OFFLINE_DAYS, _TIMESTAMP_DAYS, _ISOLATED_DAYS = 365, 30, 365

DataDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where images are.", show_default="the site's")]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys", metavar="DIR", help="As `firstlight keys init` made it.", show_default="the site's trust.keys"
    ),
]
Images = Annotated[list[str] | None, typer.Option("--image", metavar="NAME", help="May be repeated.")]
Releases = Annotated[list[str] | None, typer.Option("--release", metavar="NAME", help="May be repeated.")]


@bundle_app.command("sign")
def sign_command(
    image: Annotated[
        list[str] | None,
        typer.Option("--image", metavar="NAME[=DIGEST]", help="The newest, or an older one: a return."),
    ] = None,
    release: Releases = None,
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="FILE", help="A targets key from elsewhere. May be repeated.")
    ] = None,
    keys: Keys = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Say, signed, which digest a name stands for; what was signed before stays. A return is a new version as well."""
    shelf = shelf_of(config, data_dir)
    folder = keys_folder(keys, shelf)
    with told():
        trust = TrustFolder(shelf.data_dir / "trust")
        wanted = Wanted(shelf, tuple(image or ()), tuple(release or ()))
        targets = {**published(trust.metadata), **_targets(wanted)}
        if not (trust.metadata / "1.root.json").exists():
            add_root(trust.metadata, shipped_root(folder))
        version = publish(trust.metadata, targets, _signers(folder, key or []), _expiries(datetime.now(UTC)))
    for name in wanted.names:
        typer.echo(f"{name} {targets[name].digest}")
    typer.echo(f"signed, version {version}; good until {_day(_OFFLINE_DAYS)}")


@bundle_app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    image: Images = None,
    release: Releases = None,
    without_files: Annotated[
        bool, typer.Option("--without-files", help="The signed names alone, for sites that have the files: a return.")
    ] = False,
    keys: Keys = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Write what was signed under these names, with all that is said of it, into one file.

    Where the private timestamp key lies in the folder of keys, it says that all of it still holds.
    """
    shelf = shelf_of(config, data_dir)
    if file.exists():
        raise BadInput(f"{file}: is there already; name a new file")
    wanted = Wanted(shelf, tuple(image or ()), tuple(release or ()))
    with told():
        trust = TrustFolder(shelf.data_dir / "trust")
        known = published(trust.metadata)
        missing = [name for name in wanted.names if name not in known]
        if missing or not wanted.names:
            what = f"{', '.join(missing)}: nobody has signed it" if missing else "no --image and no --release"
            raise BadInput(f"{what}; signed are: {', '.join(known) or 'none'}; `firstlight bundle sign` signs more")
        _renew(trust, keys, shelf)
        done = export(shelf.store, trust, {name: known[name] for name in wanted.names}, file, files=not without_files)
    typer.echo(f"{file}: {', '.join(done.names)}; {done.files} files, {done.size_bytes / 2**20:.1f} MiB")


@bundle_app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As export wrote it.")],
    timestamp_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The site's own, to say that it still holds.",
            show_default="timestamp/*.key of the keys",
        ),
    ] = None,
    keys: Keys = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Verify a bundle against the root that this site trusts, and take in all of it or nothing. Again: goes on."""
    shelf = shelf_of(config, data_dir)
    folder = keys_folder(keys, shelf)
    now = datetime.now(UTC).replace(microsecond=0)
    with told():
        site = Site(shelf.data_dir, shipped_root(folder), _timestamp_signers(folder, timestamp_key))
        try:
            admitted = admit(file, site, now, now + timedelta(days=_ISOLATED_DAYS))
        except BundleError as error:
            raise FirstlightError(f"{file}: {error}; nothing was taken in") from error
    _say(admitted)


def _renew(trust: TrustFolder, keys: Path | None, shelf: Shelf) -> None:
    if keys is None and (shelf.site is None or shelf.site.trust is None):
        return
    signers = signers_in(keys_folder(keys, shelf), Role.TIMESTAMP)
    if signers[Role.TIMESTAMP]:
        renew_timestamp(trust.metadata, _expiries(datetime.now(UTC)).timestamp, signers)


def _say(admitted: Admitted) -> None:
    for name, target in sorted(admitted.targets.items()):
        typer.echo(f"{name} {target.digest}")
    if admitted.renewed:
        typer.echo(f"this site says, with its own key, that it holds until {_day(_ISOLATED_DAYS)}")
    else:
        typer.echo("no timestamp key of this site: it holds until the bundle's own timestamp expires")


def _targets(wanted: Wanted) -> Mapping[str, Target]:
    if not wanted.names:
        raise BadInput("no --image and no --release: name what is to be signed")
    images = {f"{IMAGE}{name}": image_target(wanted.shelf, name, digest) for name, digest in wanted.images.items()}
    return {**images, **{f"release/{name}": release_target(wanted.shelf, name) for name in wanted.releases}}


def _signers(folder: Path, more: list[Path]) -> Signers:
    found = dict(signers_in(folder, Role.TARGETS, Role.SNAPSHOT, Role.TIMESTAMP))
    found[Role.TARGETS] = [*found[Role.TARGETS], *(read_signer(path) for path in more)]
    return found


def _timestamp_signers(folder: Path, path: Path | None) -> Signers:
    return signers_in(folder, Role.TIMESTAMP) if path is None else {Role.TIMESTAMP: [read_signer(path)]}


def _expiries(now: datetime) -> Expiries:
    now = now.replace(microsecond=0)
    offline = now + timedelta(days=_OFFLINE_DAYS)
    return Expiries(targets=offline, snapshot=offline, timestamp=now + timedelta(days=_TIMESTAMP_DAYS))


def _day(days: int) -> str:
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"


@contextmanager
def told() -> Iterator[None]:
    """What is wrong with the store or with signatures, as commands tell it."""
    try:
        yield
    except (ArtefactError, ManifestError, TrustError, BundleError) as error:
        raise FirstlightError(str(error)) from error
    except OSError as error:
        raise FirstlightError(f"cannot be read or written: {error}") from error
