"""`firstlight node ...`: look at nodes, and do to them what people do."""

from typing import Annotated

import orjson
import typer

from provisioner.commands.answers import NodeLine
from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import bare_table, plain, say
from provisioner.commands.node_text import detail, explanation, line_cells
from provisioner.models.lifecycle import State
from provisioner.models.secret import Secret

node_app = typer.Typer(
    help="Look at nodes; hold them, let them go, install them anew, tell their passwords.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="As on its label and in the expected list.", metavar="NAME")]


@node_app.command("list")
def list_nodes(
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    rack: Annotated[str | None, typer.Option(help="Only those in this rack.")] = None,
    held: Annotated[bool, typer.Option("--held", help="Only those that wait for a person.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As the API says it.")] = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Every node: where it is, its state, what it does or waits for."""
    query = {"state": state.value if state else "", "rack": rack or "", "held": "true" if held else ""}
    nodes = connect(data_dir, url).nodes({name: value for name, value in query.items() if value})
    if as_json:
        typer.echo(orjson.dumps([one.model_dump(mode="json") for one in nodes], option=orjson.OPT_INDENT_2))
        return
    table = bare_table("node", "place", "state", "for", "left", "does or waits for", "who", cut=5)
    for one in nodes:
        table.add_row(*line_cells(one))
    say(table)


@node_app.command("show")
def show(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Everything that is known about a node: parts, firmware, burn-in."""
    say(detail(connect(data_dir, url).node(name)))


@node_app.command("why")
def why(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Why a node is where it is, and what comes next."""
    say(explanation(connect(data_dir, url).why(name)))


@node_app.command("hold")
def hold(
    name: Name,
    reason: Annotated[str, typer.Option(help="For whoever finds it held.", prompt="Why")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Stop a node where it is, until it is released."""
    _tell(connect(data_dir, url).hold(name, reason))


@node_app.command("release")
def release(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """What held the node has been dealt with: let it go on."""
    _tell(connect(data_dir, url).release(name))


@node_app.command("reimage")
def reimage(
    name: Name,
    release: Annotated[str, typer.Option(help="The name of a release profile.")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Give a node that is not in production another release: it is installed and burned in again."""
    _tell(connect(data_dir, url).reimage(name, release))


@node_app.command("hand-over")
def hand_over(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """A ready node goes into production; so does one that comes back from maintenance."""
    _tell(connect(data_dir, url).hand_over(name))


@node_app.command("take-back")
def take_back(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Take a node out of production, for work on it."""
    _tell(connect(data_dir, url).take_back(name))


@node_app.command("password")
def password(
    name: Name,
    username: Annotated[str, typer.Option(help="Of the BMC account.", prompt="BMC user name")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Tell the BMC's password, as its label says; it is asked for, and not shown."""
    client = connect(data_dir, url)
    entered: str = typer.prompt(f"BMC password of {username} on {name}", hide_input=True)
    _tell(client.password(name, username, Secret(entered)))


@node_app.command("trust")
def trust(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """The BMC's new certificate is right (its board was replaced, say): pin the next one that it shows."""
    _tell(connect(data_dir, url).trust(name))


def _tell(node: NodeLine) -> None:
    say(plain(f"{node.name}: {node.state.replace('_', ' ')}; {node.doing}"))
