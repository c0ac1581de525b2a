"""Verdicts about drivers, as people read them in a terminal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from rich.console import Group, RenderableType
from rich.text import Text

from profiles.compat.answers import Outcome, Reason, Severity, Verdict
from profiles.compat.setup import Setup
from profiles.compatibility import RULES
from profiles.horizon import Move, Target, Urgency
from provisioner.commands.console import bare_table, fields, plain

_COLOURS = {Severity.REFUSAL: "red", Severity.UNKNOWN: "magenta", Severity.FINDING: "yellow", Severity.PASS: "green"}
_WORDS = {
    Outcome.REFUSED: ("refused", "red"),
    Outcome.UNKNOWN: ("unknown", "magenta"),
    Outcome.FINDINGS: ("not without somebody's consent", "yellow"),
    Outcome.OK: ("ok", "green"),
}


@dataclass(frozen=True, slots=True)
class RuleSaid:
    """One rule and everything that it said; nothing where nothing was named that it asks about."""

    rule: str
    said: tuple[Reason, ...]


def rules_said(verdict: Verdict) -> tuple[RuleSaid, ...]:
    """Every rule in the order of asking."""
    return tuple(RuleSaid(rule, tuple(one for one in verdict.said if one.rule == rule)) for rule in RULES)


def verdict_text(setup: Setup, verdict: Verdict) -> RenderableType:
    """The verdict, every reason, and the documents behind them."""
    if not verdict.reasons:
        return _headline(setup, verdict)
    table = bare_table("", "what", "why", "source", breaks=2)
    for reason in verdict.reasons:
        table.add_row(*_cells(reason))
    return Group(_headline(setup, verdict), table, Text(), _sources(verdict.reasons))


def explanation_text(setup: Setup, verdict: Verdict) -> RenderableType:
    """Every rule, what it said, and the documents behind it."""
    table = bare_table("rule", "", "what", "why", "source", breaks=3)
    for asked in rules_said(verdict):
        for number, reason in enumerate(asked.said):
            table.add_row("" if number else asked.rule, *_cells(reason))
        if not asked.said:
            table.add_row(asked.rule, "", "", Text("nothing to say about what was named", style="bright_black"), "")
    return Group(_headline(setup, verdict), table, Text(), _sources(verdict.said))


def horizon_text(moves: tuple[Move, ...], on: date, compiled: str) -> RenderableType:
    """One paragraph per pool, the most urgent first."""
    as_of = plain(f"as of {on}, by what was public on {compiled}")
    return Group(*(part for move in moves for part in _move(move, on)), as_of)


def _headline(setup: Setup, verdict: Verdict) -> Text:
    words, colour = _WORDS[verdict.outcome]
    return Text.assemble((words, colour), plain(f": {setup.driver} with {', '.join(setup.gpus)}"))


def _cells(reason: Reason) -> tuple[Text, Text, Text, Text]:
    keys = " ".join(source.key for source in reason.sources)
    severity = Text(reason.severity, style=_COLOURS[reason.severity])
    return severity, plain(reason.name), plain(reason.text), plain(keys)


def _sources(reasons: Iterable[Reason]) -> RenderableType:
    cited = {source for reason in reasons for source in reason.sources}
    return fields((one.key, f"{one.title}, {one.url}") for one in sorted(cited, key=lambda one: int(one.key[1:])))


def _move(move: Move, on: date) -> Iterator[RenderableType]:
    urgency, colour = _when(move, on)
    pool = "" if move.pool == "-" else f"{move.pool}, "
    yield Text.assemble(plain(f"{pool}{move.driver}: "), (urgency, colour))
    lines = [("refused now", one.text) for one in move.refused_now]
    lines += [("move to", _target(one)) for one in move.targets]
    lines += [(f"not R{one.branch}", "; ".join(reason.text for reason in one.reasons)) for one in move.obstacles]
    if not move.targets:
        lines.append(("nowhere to go", "no supported branch that lasts longer takes all of it"))
    yield fields(("  " + name, text) for name, text in lines)
    yield Text()


def _when(move: Move, on: date) -> tuple[str, str]:
    if move.urgency is Urgency.UNKNOWN:
        return "the end of its branch is not published", "magenta"
    if move.urgency is Urgency.OVERDUE:
        return (f"overdue since {move.by}" if move.by else "overdue: its branch has ended"), "red"
    days = (move.by - on).days if move.by else 0
    return f"must move by {move.by}, in {days} days", "yellow" if days < 180 else "green"


def _target(target: Target) -> str:
    changes = f": {', '.join(target.changes)}" if target.changes else ""
    return f"{target.driver}, supported until {target.until}{changes}"
