"""`firstlight image statements|countersign`: what is said of an image, by whom, and whether it counts."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from images.oci.published import keep_image
from provisioner.commands.console import plain, say
from provisioner.commands.image_holdings import keys_folder, shelf_of
from provisioner.commands.image_store import AsJson, DataDir, Image, store_told
from provisioner.commands.image_supplies import Config
from provisioner.errors import BadInput

Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="DIR", help="Of `firstlight keys init`.", show_default="the site's trust.keys"),
]

# What verifies signatures is imported where it is needed: other commands of images do without the time that it takes.


def statements_command(
    digest: Image, keys: Keys = None, config: Config = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Every statement about an image: what it says, who signed it, and whether it counts here."""
    from images.statements.of_image import statements_of
    from images.trust.errors import TrustError
    from images.trust.folder import managers_in
    from provisioner.commands.statement_text import Found, as_dict, statements_text

    shelf = shelf_of(config, data_dir)
    with store_told():
        image = shelf.digest(digest)
        keep_image(shelf.store, image)
        try:
            managers = managers_in(keys_folder(keys, shelf))
        except TrustError as error:
            raise BadInput(str(error)) from error
        verified, refused = statements_of(shelf.store, managers, image)
    found: list[Found] = [*verified, *refused]
    if as_json:
        typer.echo(orjson.dumps([as_dict(one) for one in found], option=orjson.OPT_INDENT_2))
        return
    say(statements_text(found) if found else plain(f"{image}: nobody has said anything of it"))


def countersign_command(
    digest: Image,
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The private key of another release manager.")],
    keys: Keys = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Sign what others have said of an image and what still lacks signatures. Read it first: `image statements`."""
    from images.statements.countersigning import countersign_all
    from images.statements.statement import StatementError
    from images.trust.errors import TrustError
    from images.trust.folder import managers_in
    from images.trust.keys import read_signer
    from provisioner.commands.statement_text import summary

    shelf = shelf_of(config, data_dir)
    with store_told():
        image, folder = shelf.digest(digest), keys_folder(keys, shelf)
        try:
            done = countersign_all(shelf.store, image, managers_in(folder), read_signer(key))
        except (StatementError, TrustError) as error:
            raise BadInput(f"{key}: {error}") from error
    for one in done:
        if one.claims:
            typer.echo(f"{type(one.claims.predicate).__name__}: {summary(one.claims)}")
    typer.echo(f"{image}: {len(done)} statements signed")
