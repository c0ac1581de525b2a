"""Rollouts in words and tables. Pure: data in, text out."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from provisioner.commands.console import ago, bare_table, plain, short
from provisioner.commands.rollout_answers import Brief, Plan, Rollout

_DIGEST = 19
"""Characters of a digest that are shown."""


def plan_text(plan: Plan) -> RenderableType:
    """Waves, what leaves service, and what a wave can see."""
    table = bare_table("wave", "units", "nodes", "sees a defect of", "which", cut=4)
    for wave in plan.waves:
        words = (
            str(wave.number),
            str(len(wave.units)),
            str(wave.nodes),
            f"{100 * wave.sees_defect_from:.2g} % or more",
        )
        table.add_row(*map(plain, (*words, ", ".join(wave.units))))
    out = ", ".join(f"{count} of {name}" for name, count in plan.may_be_out.items())
    head = [
        f"{plan.name}: pool {plan.pool}, {plan.nodes} nodes, from {plan.from_release[:_DIGEST]} to "
        f"{plan.to_release[:_DIGEST]}",
        f"Out of service at once: at most {out or 'nothing'}. One unit takes at most "
        f"{short(60 * plan.unit_minutes_at_most)}; watching alone takes {short(3600 * plan.hours_at_least)}.",
        f"Firmware: {plan.firmware or 'as it is'}{', which cannot go back' if plan.irreversible else ''}.",
    ]
    if plan.broken:
        head.append(f"Out of order already, so they go first: {', '.join(plan.broken)}.")
    left = [f"Left out: {name}: {why}" for name, why in {**plan.excluded, **plan.left_out}.items()]
    return Group(*map(plain, head), Text(), table, *map(plain, left))


def line_of(one: Rollout) -> str:
    """Where it is, and what a person does next."""
    by = f" by {one.paused_by}" if one.paused_by else ""
    why = f" ({one.why})" if one.why else ""
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in one.counts.items())
    return f"{one.name}: {one.state.replace('_', ' ')}{by}{why}; {counts}" + (f"\nNext: {one.next}" if one.next else "")


def rollout_text(one: Rollout) -> RenderableType:
    """Everything about one."""
    waves = bare_table("wave", "state", "units", "failed", "watched", "verdict", "why", cut=6)
    for wave in one.waves:
        numbers = (str(wave.units), str(wave.failed_units), short(wave.soaked_seconds) if wave.soaked_seconds else "")
        waves.add_row(*map(plain, (str(wave.number), wave.state, *numbers, wave.verdict or "", wave.why)))
    head = f"pool {one.pool}, from {one.from_release[:_DIGEST]} to {one.release[:_DIGEST]}; asked for by {one.who}"
    approved = f", approved by {one.approved_by}" if one.approved_by else ""
    history = [plain(f"{line.at:%Y-%m-%d %H:%M:%S} {line.what}") for line in one.history]
    parts: list[RenderableType] = [plain(line_of(one)), plain(head + approved), *_figures(one), Text(), waves]
    if one.in_hand:
        parts += [Text(), _in_hand(one)]
    return Group(*parts, Text(), *history)


def list_table(found: list[Brief]) -> Table:
    """One line for each."""
    table = bare_table("rollout", "pool", "release", "state", "made", "why", cut=5)
    for one in found:
        made = f"{ago(one.created_at)} ago"
        words = (one.name, one.pool, one.release[:_DIGEST], one.state.replace("_", " "), made, one.why)
        table.add_row(*map(plain, words))
    return table


def _figures(one: Rollout) -> Iterator[Text]:
    for name, floor in one.floors.items():
        serving = (
            f"{floor.nodes} nodes" if floor.in_service is None else f"{floor.in_service} of {floor.nodes} in service"
        )
        yield plain(f"{name}: {serving}, floor {floor.floor}")
    for name, trials in one.trials.items():
        beside = one.control.get(name)
        text = f"{name}: {trials.failed} of {trials.nodes} nodes failed on the new release"
        yield plain(text + (f", {beside.failed} of {beside.nodes} beside them on the old one" if beside else ""))
    for name in one.rejected:
        yield plain(f"{name}: the release came back, and is not offered to it again")


def _in_hand(one: Rollout) -> Table:
    table = bare_table("unit", "wave", "state", "heading", "try", "why", cut=5)
    for unit in one.in_hand:
        words = (unit.unit, str(unit.wave), unit.state.replace("_", " "), unit.heading.replace("_", " "))
        table.add_row(*map(plain, (*words, str(unit.attempt), unit.why)))
    return table
