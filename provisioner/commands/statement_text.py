"""Statements about images as people and programs read them."""

from collections.abc import Iterable, Sequence

from rich.console import RenderableType

from images.statements.of_image import Refused, Verified
from images.statements.statement import (
    BurnInSummary,
    Provenance,
    SbomReference,
    Statement,
    TestResults,
)
from provisioner.commands.console import bare_table, plain

_SHORT = 12
Found = Verified | Refused


def statements_text(found: Sequence[Found]) -> RenderableType:
    """One statement a line."""
    table = bare_table("what", "says", "signed by", "counts", breaks=3)
    for one in found:
        statement = _statement(one)
        words = (type(statement.predicate).__name__, summary(statement)) if statement else ("?", "")
        counts = "yes" if isinstance(one, Verified) else f"no: {one.why}"
        table.add_row(words[0], plain(words[1]), _short(one.signers), plain(counts))
    return table


def as_dict(one: Found) -> dict[str, object]:
    """For programs."""
    statement = _statement(one)
    return {
        "envelope": one.envelope,
        "predicate": type(statement.predicate).__name__ if statement else None,
        "says": statement.predicate.model_dump(mode="json") if statement else None,
        "signers": one.signers,
        "counts": isinstance(one, Verified),
        "why_not": None if isinstance(one, Verified) else one.why,
    }


def summary(statement: Statement) -> str:
    """What it says, in one line."""
    said = statement.predicate
    if isinstance(said, Provenance):
        return f"from profile {said.profile}, by {said.builder}, finished {said.finished_on:%Y-%m-%d %H:%M}"
    if isinstance(said, SbomReference):
        return f"{said.components} components, {said.format} {said.sbom}"
    if isinstance(said, TestResults):
        return f"{said.suite}: {said.result}, {len(said.passed)} passed{_names(said.failed)}"
    if isinstance(said, BurnInSummary):
        return f"{said.hardware_class}: {said.nodes} nodes, {said.node_hours:.0f} node hours{_names(said.failed)}"
    return f"{said.channel} of {said.hardware_class}: {said.outcome}"


def _names(failed: Iterable[str]) -> str:
    names = ", ".join(failed)
    return f", failed: {names}" if names else ""


def _statement(one: Verified | Refused) -> Statement | None:
    return one.statement if isinstance(one, Verified) else one.claims


def _short(signers: Iterable[str]) -> str:
    return ", ".join(one[:_SHORT] for one in signers)
