"""`firstlight image gc|pins|hold|release-hold`: what is in the store, who holds it, and taking away the rest."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import orjson
import typer

from images.digest import Digest
from images.manifest import ManifestError
from images.oci.collect import Collected, collect
from images.oci.pins import Pin, PinKind, now_text, pin, unpin
from images.oci.published import images_in, keep_image, read_image
from images.store import ArtefactError
from provisioner.commands.console import bare_table, plain, say
from provisioner.commands.image_holdings import Shelf, shelf_of
from provisioner.commands.image_supplies import Config
from provisioner.errors import BadInput

_MIB = 2**20

Image = Annotated[str, typer.Argument(metavar="DIGEST", help="Or the first 8 digits of it, or a name: its newest.")]
DataDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where images are.", show_default="the site's")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Holder = Annotated[str, typer.Option("--name", metavar="NAME", help="Of the hold: a case, a ticket, a team.")]


def list_stored(config: Path | None, data_dir: Path | None, *, as_json: bool) -> None:
    """Every image of the store, its size, and who holds it."""
    shelf = shelf_of(config, data_dir)
    with store_told():
        pins = shelf.holdings().pins
        found = [(one, _size(shelf, one.digest), pins.get(one.digest, ())) for one in images_in(shelf.store)]
    found.sort(key=lambda one: (one[0].name, one[0].digest))
    if as_json:
        lines = [
            {"name": entry.name, "digest": entry.digest, "size_bytes": size, "pins": [one.label for one in held]}
            for entry, size, held in found
        ]
        typer.echo(orjson.dumps(lines, option=orjson.OPT_INDENT_2))
        return
    table = bare_table("name", "digest", "MiB", "held by", breaks=3)
    for entry, size, held in found:
        table.add_row(plain(entry.name), entry.digest, str(size // _MIB), plain(_labels(held)))
    say(table)


def pins_command(digest: Image, config: Config = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Who holds an image, and why: it is never collected while anybody does."""
    shelf = shelf_of(config, data_dir)
    with store_told():
        image = shelf.digest(digest)
        held = shelf.holdings().pins.get(image, ())
    if as_json:
        typer.echo(orjson.dumps(held, option=orjson.OPT_INDENT_2))
        return
    table = bare_table("kind", "holder", "why", "who", "since", breaks=2)
    for one in held:
        table.add_row(one.kind, plain(one.holder), plain(one.reason), plain(one.who), one.at)
    say(table if held else plain(f"{image}: nobody holds it; `firstlight image gc` takes it after its grace period"))


def hold_command(
    digest: Image,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it has to be kept.")],
    name: Holder = "legal",
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Keep an image, whatever else happens, until `release-hold`."""
    if not reason.strip():
        raise BadInput("--reason: say why it has to be kept")
    shelf = shelf_of(config, data_dir)
    with store_told():
        image = shelf.digest(digest)
        keep_image(shelf.store, image)
        held = Pin(PinKind.HOLD, name, reason.strip(), getpass.getuser(), now_text(datetime.now(UTC)))
        pin(shelf.store, image, held)
    typer.echo(f"{image}: held ({name})")


def release_hold_command(
    digest: Image,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it need not be kept any more.")],
    name: Holder = "legal",
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """End a hold. The image stays: only a collection takes it, and only when nobody else holds it."""
    if not reason.strip():
        raise BadInput("--reason: say why it need not be kept any more")
    shelf = shelf_of(config, data_dir)
    with store_told():
        image = shelf.digest(digest)
        unpin(shelf.store, image, PinKind.HOLD, name)
        left = shelf.holdings().pins.get(image, ())
    typer.echo(f"{image}: no longer held ({name}: {reason.strip()}); who still holds it: {_labels(left) or 'nobody'}")


def gc_command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; take nothing.")] = False,
    grace: Annotated[
        float, typer.Option("--grace", min=0, max=24 * 365, metavar="HOURS", help="What was wanted since then stays.")
    ] = 24,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Take away images that nobody holds, and what only they need. Builds may run meanwhile."""
    shelf = shelf_of(config, data_dir)
    shelf.refuse_blind()
    with store_told():
        now, hours = datetime.now(UTC), timedelta(hours=grace)
        collected = collect(shelf.store, shelf.holdings, now, hours, dry_run=dry_run)
    if as_json:
        typer.echo(orjson.dumps(_as_dict(collected, dry_run=dry_run), option=orjson.OPT_INDENT_2))
        return
    for image in collected.images:
        typer.echo(f"image {image.name} {image.digest}")
    files = len(collected.blobs) + len(collected.leftovers)
    verb = "would go" if dry_run else "went"
    typer.echo(f"{len(collected.images)} images, {files} files, {collected.size_bytes / _MIB:.1f} MiB {verb}")


def _as_dict(collected: Collected, *, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "images": [{"name": one.name, "digest": one.digest} for one in collected.images],
        "files": [{"digest": one.digest, "size_bytes": one.size_bytes} for one in collected.blobs],
        "leftovers": [str(one) for one in collected.leftovers],
        "size_bytes": collected.size_bytes,
    }


def _size(shelf: Shelf, image: Digest) -> int:
    return sum(one.size_bytes for one in read_image(shelf.store, image).artefacts)


def _labels(held: tuple[Pin, ...]) -> str:
    return ", ".join(one.label for one in held)


@contextmanager
def store_told() -> Iterator[None]:
    """What is wrong with the store, as commands tell it."""
    try:
        yield
    except (ArtefactError, ManifestError) as error:
        raise BadInput(str(error)) from error
