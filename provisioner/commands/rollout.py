"""`firstlight rollout`: move pools to a release, and try out beforehand how that would go."""

import typer

from provisioner.commands import rollout_orders as orders
from provisioner.commands.rollout_simulate import simulate_command

rollout_app = typer.Typer(
    help="Move a pool to a release wave by wave, and back by itself where the evidence says so.", no_args_is_help=True
)

rollout_app.command("create")(orders.create)
rollout_app.command("approve")(orders.approve)
rollout_app.command("start")(orders.start)
rollout_app.command("show")(orders.show)
rollout_app.command("list")(orders.list_rollouts)
rollout_app.command("pause")(orders.pause)
rollout_app.command("resume")(orders.resume)
rollout_app.command("abort")(orders.abort)
rollout_app.command("return")(orders.send_back)
rollout_app.command("decide")(orders.decide)
rollout_app.command("rejected")(orders.rejected)
rollout_app.command("pardon")(orders.pardon)
rollout_app.command("simulate")(simulate_command)
