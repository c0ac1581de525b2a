"""`firstlight token ...`: who may use the API, for what and until when."""

from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from provisioner.commands.answers import NewToken, TokenLine, TokenList
from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import ago, bare_table, plain, say
from provisioner.models.role import Role, Scope

token_app = typer.Typer(help="Who may use the API, for what and until when. Needs the token of an administrator.")


@token_app.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the person or machine; the audit log tells it.")],
    role: Annotated[Role, typer.Option("--role", help="What it may do.")],
    scope: Annotated[
        list[Scope] | None, typer.Option("--scope", help="Only this, beside reading; repeat it for more.")
    ] = None,
    expires: Annotated[int | None, typer.Option("--expires", metavar="DAYS", help="Else it never does.")] = None,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Make a token. It is shown this once: nothing but a hash is kept."""
    body = {"name": name, "role": role, "scopes": scope or [], "expires_in_days": expires}
    made = connect(data_dir, url).ask("POST", "/v1/tokens", NewToken, body)
    typer.echo(made.token)
    typer.echo(f"{made.name}: {_may(made)}, {_until(made)}. It is not shown again.", err=True)


@token_app.command("list")
def list_command(data_dir: DataDir = HERE, url: Url = None) -> None:
    """Every token, by name; never the secret."""
    say(_table(connect(data_dir, url).ask("GET", "/v1/tokens", TokenList).tokens))


@token_app.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose token.")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Make a token useless at once."""
    connect(data_dir, url).tell("DELETE", f"/v1/tokens/{quote(name, safe='')}")
    say(plain(f"{name}: revoked"))


def _table(tokens: list[TokenLine]) -> Table:
    table = bare_table("NAME", "BEGINS", "MAY", "UNTIL", "LAST USED", breaks=2)
    for token in tokens:
        used = "never" if token.last_used_at is None else f"{ago(token.last_used_at)} ago"
        table.add_row(*map(plain, (token.name, token.prefix, _may(token), _until(token), used)))
    return table


def _may(token: TokenLine) -> str:
    return f"{token.role}, only {' '.join(token.scopes)}" if token.narrowed else token.role


def _until(token: TokenLine) -> str:
    return "for ever" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
