"""`firstlight plan NODE`: what would be done, before anything is done."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.answers import Plan
from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import bare_table, plain, say, short


def plan(
    node: Annotated[str, typer.Argument(metavar="NODE")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """What would be done to a node now, in order; reads its BMC and changes nothing."""
    say(plan_text(connect(data_dir, url).plan(node)))


def plan_text(plan: Plan) -> RenderableType:
    """The steps, what they reset, and how long they take on real hardware."""
    if plan.release is None and not plan.steps:
        return plain(f"{plan.node}: it has no release yet; why: firstlight node why {plan.node}")
    if not plan.steps:
        return plain(f"{plan.node}: nothing to do; it is as {plan.release} wants it")
    table = bare_table("", "step", "takes", "resets", breaks=1)
    for number, step in enumerate(plan.steps, start=1):
        table.add_row(str(number), plain(step.what), short(step.expected_seconds), step.resets)
        for refusal in step.refusals:
            table.add_row("", Text.assemble(("refused: ", "red"), plain(refusal)), "", "")
    release = f"release {plan.release}" if plan.release else "no release yet: only the way to one is known"
    resets = f"{plan.host_resets} host resets" if plan.host_resets != 1 else "1 host reset"
    total = f"{plan.node}, {release}: about {short(plan.expected_seconds)} on real hardware, {resets}"
    return Group(table, plain(total))
