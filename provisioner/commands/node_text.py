"""Nodes as people read them on a terminal. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.answers import BurnIn, Explanation, Inventory, NodeDetail, NodeLine, Result
from provisioner.commands.console import ago, bare_table, fields, plain, short, state_text

_EVIDENCE_LINES = 12


def line_cells(node: NodeLine) -> tuple[str | Text, ...]:
    """Node, place, state, for how long, left, what it does or waits for, who acts next."""
    left = short(node.left_seconds) if node.left_seconds is not None else ""
    doing = node.hold.instruction.what if node.hold else _with_percent(node.doing, node.percent)
    return (
        node.name,
        f"{node.rack}/{node.position}",
        state_text(node.state),
        ago(node.since),
        left,
        plain(doing),
        node.owner,
    )


def explanation(why: Explanation) -> RenderableType:
    """Where it is, what it does or who does what next, what was seen, and the last events."""
    parts: list[RenderableType] = [_headline(why)]
    told = why.instruction
    parts.append(
        fields(
            (
                ("where", told.where if told else why.place),
                ("seen", why.seen),
                ("who", told.owner if told else None),
                ("what", told.what if told else None),
                ("part", told.part if told else None),
                ("done when", told.done_when if told else None),
                ("looks again", _until(why.retry_at)),
            )
        )
    )
    events = bare_table("ago", "event", "reason", breaks=2)
    for event in why.events:
        events.add_row(ago(event.at), (event.to_state or event.kind).replace("_", " "), plain(event.reason))
    return Group(*parts, Text(), events)


def detail(node: NodeDetail) -> RenderableType:
    """Everything."""
    return Group(*_detail(node))


def _headline(why: Explanation) -> Text:
    state = why.state.replace("_", " ")
    if why.instruction is not None:
        return Text(f"{why.node} has been held for {ago(why.since)}: it waits for {_article(why.instruction.owner)}.")
    doing = _with_percent(why.doing, why.percent)
    if why.wait_seconds is not None:
        return plain(
            f"{why.node} has been {state} for {ago(why.since)}: {doing}. "
            f"Nothing to do; from the start of this state to ready it takes about {short(why.wait_seconds)}."
        )
    return plain(f"{why.node} has been {state} for {ago(why.since)}: {doing}. Next: {why.owner}.")


def _article(owner: str) -> str:
    return f"{'an' if owner[:1] in 'aeiou' else 'a'} {owner.replace('-', ' ')}"


def _with_percent(doing: str, percent: float | None) -> str:
    return doing if percent is None else f"{doing} ({percent:.0f} %)"


def _until(at: datetime | None) -> str | None:
    if at is None:
        return None
    seconds = (at - datetime.now(UTC)).total_seconds()
    return f"by itself, in {short(seconds)}" if seconds > 0 else "now"


def _detail(node: NodeDetail) -> Iterator[RenderableType]:
    yield state_text(node.state, node.hold.held_from if node.hold else None)
    yield fields(
        (
            ("place", f"rack {node.rack}, position {node.position}"),
            ("state for", ago(node.since)),
            ("seen" if node.hold else "does", _with_percent(node.doing, node.percent)),
            ("to do", f"{node.hold.instruction.owner}: {node.hold.instruction.what}" if node.hold else None),
            ("BMC", node.bmc),
            ("server", " ".join(part for part in (node.manufacturer, node.model) if part) or None),
            ("serial", node.serial),
            ("UUID", node.uuid),
            ("class", node.hardware_class),
            ("release", node.release),
            ("image seen", node.observed_image),
            ("attempt", f"{node.attempt} of generation {node.generation}, {node.failures} failures in a row"),
        )
    )
    if node.inventory is not None:
        yield from _inventory(node.inventory)
    if node.burn_in is not None:
        yield from _burn_in(node.burn_in)


def _inventory(seen: Inventory) -> Iterator[RenderableType]:
    yield fields(
        (
            ("processors", _counted(seen.processors)),
            ("GPUs", _counted(seen.gpus)),
            ("memory", f"{seen.memory_gib:g} GiB, {seen.architecture}, power {seen.power}"),
        )
    )
    table = bare_table("firmware", "version", "name", breaks=2)
    for one in seen.firmware:
        table.add_row(plain(one.id), plain(one.version or "not given"), plain(one.name))
    yield Text()
    yield table


def _counted(models: list[str]) -> str | None:
    return ", ".join(f"{models.count(one)} x {one}" for one in dict.fromkeys(models)) or None


def _burn_in(run: BurnIn) -> Iterator[RenderableType]:
    sign = f"; last sign of life {ago(run.last_sign_at)} ago" if run.last_sign_at else ""
    yield Text()
    yield plain(f"burn-in {run.plan}, begun {ago(run.opened_at)} ago{sign}")
    table = bare_table("check", "result", "took", "measured", breaks=3)
    for one in run.results:
        took = short((one.finished_at - one.started_at).total_seconds())
        measured = ", ".join(f"{name} {value:g}" for name, value in one.metrics.items())
        table.add_row(plain(one.item), one.status, took, plain(measured))
    yield table
    for one in run.results:
        if one.status != "pass":
            yield _evidence(one)


def _evidence(result: Result) -> Text:
    lines = result.evidence.strip().splitlines()[-_EVIDENCE_LINES:]
    return plain("\n".join([f"evidence of {result.item}:", *(f"  {line}" for line in lines)]))
