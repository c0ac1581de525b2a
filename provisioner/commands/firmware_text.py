"""Firmware plans and compliance as people read them on a terminal. Pure."""

from collections.abc import Iterator, Sequence

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.text import Text

from provisioner.commands.console import ago, bare_table, plain, short
from provisioner.commands.firmware_answers import (
    ClassCompliance,
    Compliance,
    FirmwarePlan,
    Group,
    Neighbour,
    Pool,
    PoolPlan,
    Stage,
    Update,
)

_MOST_ROWS = 12
_MOST_NAMES = 3

_ACTIVATIONS = {
    "none": "",
    "bmc_reset": "restart the BMC",
    "host_reset": "reset the host",
    "power_cycle": "switch the host off and on",
    "aux_cycle": "cut the standby power of the board",
    "ac_cycle": "cut the mains of the server",
}


def node_plan_text(plan: FirmwarePlan) -> RenderableType:
    """Stage by stage, with who else goes down; what cannot be reverted; every refusal; how long it takes."""
    if plan.bundle is None:
        return plain(f"{plan.node}: it has no release yet; why: firstlight node why {plan.node}")
    if not plan.stages and not plan.refusals:
        return plain(f"{plan.node}: nothing to do; its firmware is as {plan.bundle} wants it")
    table = bare_table("stage", "what", "takes", breaks=1)
    for number, stage in enumerate(plan.stages, start=1):
        flashing = sum(update.expected_seconds for update in stage.updates)
        for row, update in enumerate(stage.updates):
            table.add_row("" if row else str(number), plain(_flash(update)), short(update.expected_seconds))
        if _activation(stage):
            table.add_row("", plain(_activation(stage)), short(stage.expected_seconds - flashing))
        for text in _down(stage):
            table.add_row("", text, "")
    total = f"{plan.node}, bundle {plan.bundle}: about {short(plan.expected_seconds)} on real hardware, "
    return Lines(table, *_told(plan.irreversible, plan.refusals), plain(total + _count(_cycles(plan.stages))))


def pool_plan_text(plan: PoolPlan) -> RenderableType:
    """A line for each group of nodes with an equal plan; the largest groups where there are many."""
    table = bare_table("nodes", "such as", "what", "takes", "activations", "others down", breaks=2)
    for group in plan.groups[:_MOST_ROWS]:
        table.add_row(
            str(len(group.nodes)),
            group.nodes[0],
            _done(group),
            short(group.expected_seconds),
            str(_cycles(group.stages)),
            _names(group.others),
        )
    return Lines(table, *_beside(plan), plain(_about(plan.pool)))


def compliance_text(seen: Compliance) -> RenderableType:
    """A line for each component class of each bundle."""
    parts: list[RenderableType] = []
    for bundle in seen.bundles:
        table = bare_table("component", "wanted", "state", "versions (nodes)", "who", breaks=4)
        for one in bundle.components:
            table.add_row(one.component, plain(one.wanted), _state(one), plain(_versions(one)), plain(_who(one)))
        parts += [plain(f"bundle {bundle.bundle}"), table]
    return Lines(*parts, plain(_about(seen.pool)))


def _flash(update: Update) -> str:
    pairs = zip(update.components, update.versions, strict=True)
    what = ", ".join(f"{component} to {version}" for component, version in pairs)
    back = "; no way back" if update.irreversible else ""
    return f"flash {what}, from {', '.join(update.running)} ({update.parts} parts{back})"


def _activation(stage: Stage) -> str:
    return _ACTIVATIONS.get(stage.activation, stage.activation)


def _down(stage: Stage) -> Iterator[Text]:
    for one in stage.neighbours:
        yield Text.assemble(("goes down too: ", "red" if one.blocks else "yellow"), plain(_neighbour(one)))
    for domain in stage.undeclared:
        told = f"who shares its {domain}; name it in the expected list: domains: {{{domain}: NAME}}"
        yield Text.assemble(("nobody knows: ", "yellow"), plain(told))


def _neighbour(one: Neighbour) -> str:
    blocks = f"; {one.node} {one.blocks}, so this must not be now" if one.blocks else ""
    return f"{one.place}, by {one.domain} {one.shared}{blocks}"


def _told(irreversible: Sequence[str], refusals: Sequence[str]) -> Iterator[Text]:
    for text in irreversible:
        yield Text.assemble(("cannot be reverted: ", "yellow"), plain(text))
    for text in refusals:
        yield Text.assemble(("refused: ", "red"), plain(text))


def _cycles(stages: Sequence[Stage]) -> int:
    return sum(stage.activation != "none" for stage in stages)


def _count(cycles: int) -> str:
    return "1 activation" if cycles == 1 else f"{cycles} activations"


def _done(group: Group) -> Text:
    """Refusals first: with one, nothing else is done."""
    if group.refusals:
        more = f" (and {len(group.refusals) - 1} more)" if len(group.refusals) > 1 else ""
        return Text.assemble(("refused: ", "red"), plain(group.refusals[0] + more))
    updates = [update for stage in group.stages for update in stage.updates]
    if not updates:
        return Text("nothing", "green")
    what = "; ".join(f"{', '.join(one.components)} to {', '.join(dict.fromkeys(one.versions))}" for one in updates)
    return plain(what + ("; no way back" if group.irreversible else ""))


def _beside(plan: PoolPlan) -> Iterator[Text]:
    left = plan.groups[_MOST_ROWS:]
    if left:
        yield plain(f"and {len(left)} more plans for {sum(len(one.nodes) for one in left)} nodes: --json has all")
    blocking = {one.node: one for group in plan.groups for one in group.blocking}
    for one in list(blocking.values())[:_MOST_NAMES]:
        yield Text.assemble(("must not go down now: ", "red"), plain(f"{one.place}: {one.blocks}"))
    if len(blocking) > _MOST_NAMES:
        yield plain(f"and {len(blocking) - _MOST_NAMES} more that must not: --json has all")


def _about(pool: Pool) -> str:
    """How much is known, and how old that is."""
    text = f"{pool.nodes} nodes"
    if pool.oldest_inventory_at and pool.newest_inventory_at:
        oldest, newest = ago(pool.oldest_inventory_at), ago(pool.newest_inventory_at)
        text += f"; inventories are {newest} to {oldest} old" if oldest != newest else f"; inventories are {oldest} old"
    if pool.unseen:
        text += f"; without inventory or release: {_names(pool.unseen)}"
    return text


def _state(one: ClassCompliance) -> Text:
    words = [("below floor", "red")] if one.below_floor else []
    if one.mixed:
        words.append(("mixed", "red"))
    if one.unknown:
        words.append(("unknown", "yellow"))
    if not words and not one.compliant:
        words.append(("all alike, not as wanted" if one.uniform else "drifted", "yellow"))
    shown = words or [("uniform", "green")]
    return Text(", ").join(Text(word, colour) for word, colour in shown)


def _versions(one: ClassCompliance) -> str:
    shown = ", ".join(f"{it.version} ({it.nodes})" for it in one.versions[:_MOST_NAMES])
    left = len(one.versions) - _MOST_NAMES
    return f"{shown} and {left} more" if left > 0 else shown


def _who(one: ClassCompliance) -> str:
    told = (
        ("below floor", one.below_floor),
        ("mixed", one.mixed),
        ("no version", one.unknown),
        ("other number of parts", one.uneven),
    )
    return "; ".join(f"{what}: {_names(names)}" for what, names in told if names)


def _names(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {left} more" if left > 0 else "")
