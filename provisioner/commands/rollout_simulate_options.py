"""The options that describe a simulated site: one line for each, the defaults are the scenario's own."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Annotated, Any

import typer

from provisioner.errors import BadInput
from provisioner.rollout.spec import Floor, ReturnScope
from provisioner.simulator.scenario import Inconclusive, Scenario

_OPTIONS: Sequence[tuple[str, type, str]] = (
    ("nodes", int, "Nodes of the whole site."),
    ("seed", int, "The same seed, the same run."),
    ("domain_size", int, "Nodes of one NVLink domain, which move together; 1: there are none."),
    ("floor", str, "What stays in service: percent such as 90%, or a number of nodes."),
    ("defect_rate", float, "Share of nodes on which the new release fails its check."),
    ("late_defects", float, "Share of nodes on which it passes, and fails in service about an hour later."),
    ("base_failure", float, "Share of boots that leave a node broken, whatever it runs."),
    ("boot_failure", float, "Share of resets from which nothing comes up."),
    ("stale_digests", float, "Share of boots after which a node still names the old release."),
    ("job_hours", float, "Median length of jobs that run to their end; 0: all write a checkpoint."),
    ("checkpointing", float, "Share of domains whose jobs write a checkpoint all the same."),
    ("power_loss", int, "Power domains that fail."),
    ("lost_telemetry", int, "Leaf domains that fall silent."),
    ("clock_jumps", int, "Jumps of the controller's clock, by up to six hours."),
    ("controller_kills", int, "Times that the controller is killed, and another takes over."),
    ("pauses", int, "Times that a person pauses for half an hour."),
    ("fault_hours", float, "The five above happen within so many hours."),
    ("canaries", int, "Units of the first wave."),
    ("run_short", int, "Nodes that a unit may go on without; else one in nine."),
    ("soak_minutes", float, "How long each wave is watched."),
    ("drain_minutes", float, "How long a drain may take before the unit is put back and tried later."),
    ("return_scope", ReturnScope, "What goes back when a wave fails."),
    ("on_inconclusive", Inconclusive, "What the operator does where a gate cannot tell."),
    ("max_days", float, "Simulated days after which it is given up."),
)


def takes_scenario(command: Callable[..., None]) -> Callable[..., None]:
    """Make of a command whose first parameter is a `Scenario` one that has an option for each of its fields."""
    defaults = Scenario()
    names = {one.name for one in fields(Scenario)}
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    described = [_option(name, kind, text, getattr(defaults, name)) for name, kind, text in _OPTIONS]

    def with_options(**given: Any) -> None:
        values = {name: value for name, value in given.items() if name in names}
        values["floor"] = _floor(values["floor"])
        command(Scenario(**values), **{name: value for name, value in given.items() if name not in names})

    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*described, *own)]
    with_options.__doc__ = command.__doc__
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may have one
    return with_options


def _option(name: str, kind: type, text: str, default: object) -> inspect.Parameter:
    shown: Any = f"{default.percent}%" if isinstance(default, Floor) else default
    annotation: Any = Annotated[kind if default is not None else kind | None, typer.Option(help=text)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=annotation)


def _floor(text: str) -> Floor:
    number = text.removesuffix("%").strip()
    if not (number.isascii() and number.isdigit()):
        raise BadInput(f"--floor: {text!r} is neither: give percent such as 90%, or a number of nodes")
    return Floor(percent=int(number)) if text.endswith("%") else Floor(count=int(number))
