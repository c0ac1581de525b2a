"""`firstlight keys`: the keys that sign releases."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from images.trust.errors import TrustError
from images.trust.keys import DEFAULT_PLAN, KeyPlan, Role, keyring_of, make_signers, write_keys
from images.trust.repository import first_root
from provisioner.errors import BadInput

keys_app = typer.Typer(help="The keys that sign releases.")

_K_OF_N = re.compile(r"([1-9]\d?)-of-([1-9]\d?)", re.ASCII)
_ROOT_IS_GOOD_FOR = timedelta(days=5 * 365)

_NEXT = """\
The keys are in {folder}. The private ones are not encrypted: what protects them is where they are kept.

1. root/ ({root_threshold} of {root_count} sign): offline, each key with another person, such as on sticks in safes.
   They are needed again only to replace keys, and before {expires:%Y-%m-%d}, when 1.root.json expires.
2. targets/ ({targets_threshold} of {targets_count} sign): offline, each with another release manager; they say which
   digest a channel stands for, and sign statements about images.
3. {folder}/snapshot and {folder}/timestamp: on the host that publishes.
   Who has both can name no digest that the targets keys did not sign.
4. 1.root.json and public-keys.json are no secrets: give them to every site, by a way that you trust.
When each key is at its place, delete root/ and targets/ here.
"""


@keys_app.callback()
def _keys() -> None:
    """A group, though it has one command."""


@keys_app.command("init")
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the keys.")],
    root: Annotated[str, typer.Option(metavar="K-of-N", help="Root keys, and how many of them sign.")] = "3-of-5",
    targets: Annotated[str, typer.Option(metavar="K-of-N", help="Keys of release managers, likewise.")] = "2-of-3",
) -> None:
    """Make root, targets, snapshot and timestamp keys (ed25519) and the first root. Nothing is ever overwritten."""
    plan = {**DEFAULT_PLAN, Role.ROOT: _plan("--root", root), Role.TARGETS: _plan("--targets", targets)}
    signers = make_signers(plan)
    expires = datetime.now(UTC).replace(microsecond=0) + _ROOT_IS_GOOD_FOR
    try:
        keyring = keyring_of(signers, plan)
        first = first_root(keyring, expires, signers[Role.ROOT])
        write_keys(folder.absolute(), signers, keyring, {"1.root.json": first})
    except TrustError as error:
        raise BadInput(str(error)) from error
    told = _NEXT.format(
        folder=folder.absolute(),
        root_threshold=plan[Role.ROOT].threshold,
        root_count=plan[Role.ROOT].count,
        targets_threshold=plan[Role.TARGETS].threshold,
        targets_count=plan[Role.TARGETS].count,
        expires=expires,
    )
    typer.echo(told, nl=False)


def _plan(option: str, text: str) -> KeyPlan:
    found = _K_OF_N.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise BadInput(
            f"{option} {text}: write such as 2-of-3, with at most 99 keys, of which no more sign than there are"
        )
    return KeyPlan(int(found[1]), int(found[2]))
