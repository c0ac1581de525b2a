"""Releases, promotions and channels in words."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.console import ago, bare_table, fields, plain
from provisioner.commands.promotion_answers import Channel, Promotion, Release, ReleaseLine

_MARKS = {
    "passed": ("✔", "green"),
    "not_needed": ("-", "bright_black"),
    "waived": ("○", "yellow"),
    "waiting": ("…", "cyan"),
    "failed": ("✘", "red"),
}
_KNOWN = {True: "yes", False: "no", None: "not known"}


def words(state: str) -> str:
    """As a person says it."""
    return state.replace("_", " ")


def line_of(one: Promotion) -> str:
    """One promotion in one line."""
    shut = [words(gate.name) for gate in one.gates if gate.state in {"waiting", "failed"}]
    missing = f"; missing: {', '.join(shut)}" if shut and one.ended_at is None else ""
    why = f" ({one.why})" if one.why else ""
    return f"{one.id}: {one.release_name} to {one.channel} of {one.hardware_class}: {words(one.state)}{why}{missing}"


def promotion_text(one: Promotion) -> RenderableType:
    """Everything: each gate with its evidence, what it misses, and what to do."""
    parts: list[RenderableType] = [plain(line_of(one)), plain(f"{one.release}, for: {one.reason}"), Text()]
    parts += _gates(one)
    parts += [Text(), *_people(one)]
    parts += [plain(f"{line.at:%Y-%m-%d %H:%M:%S} {line.what}") for line in one.history]
    if one.decision:
        parts.append(plain(f"signed: {one.decision}"))
    return Group(*parts)


def promotions_table(found: Sequence[Promotion]) -> RenderableType:
    """One line each."""
    table = bare_table("promotion", "release", "channel", "class", "state", "asked", "by", "why", cut=7)
    for one in found:
        asked = f"{ago(one.requested_at)} ago"
        told = (one.id, one.release_name, one.channel, one.hardware_class, words(one.state), asked, one.requester)
        table.add_row(*map(plain, (*told, one.why)))
    return table


def releases_table(found: Sequence[ReleaseLine]) -> RenderableType:
    """One line each."""
    table = bare_table("release", "digest", "class", "made", "by", cut=0)
    for one in found:
        made = f"{ago(one.made_at)} ago" if one.made_at else "site.yaml"
        table.add_row(*map(plain, (one.name, one.digest[:19], one.hardware_class, made, one.made_by or "")))
    return table


def release_text(one: Release) -> RenderableType:
    """Everything about one."""
    back = one.reversibility
    constraints = {words(name): str(value) for name, value in one.constraints.items() if value not in (None, [])}
    grid = fields(
        [
            ("release", f"{one.name} ({one.digest})"),
            ("made", f"by {one.made_by}, {ago(one.made_at)} ago" if one.made_at else "by site.yaml"),
            ("hardware class", one.hardware_class),
            ("image", f"{one.image} ({one.image_digest})"),
            ("firmware", one.firmware),
            ("", "\n".join(f"{part.component} {part.version}" for part in one.components) or None),
            ("bios", one.bios),
            ("burn-in", one.burn_in),
            ("constraints", "; ".join(f"{name}: {value}" for name, value in constraints.items()) or "none"),
            ("old image on new firmware", _KNOWN[back.old_image_on_new_firmware]),
            ("firmware may go back", _KNOWN[back.firmware_downgrade]),
            ("one way", ", ".join(back.one_way) or None),
        ]
    )
    return Group(grid, *(plain(f"{reason.severity} {reason.name}: {reason.text}") for reason in one.reasons))


def channels_table(found: Sequence[Channel]) -> RenderableType:
    """One line each."""
    table = bare_table("channel", "class", "release", "since", "by")
    for one in found:
        table.add_row(
            *map(plain, (one.channel, one.hardware_class, one.release[:19], f"{ago(one.since)} ago", one.who))
        )
    return table


def channel_text(one: Channel) -> RenderableType:
    """Where it stands, where it may go back to, and how it got there."""
    head = f"{one.channel} of {one.hardware_class} stands at {one.release} since {one.since:%Y-%m-%d %H:%M:%S}"
    parts = [plain(head)]
    parts += [plain(f"may be rolled back to {digest}") for digest in one.rollback_to]
    for move in one.history:
        how = f"promotion {move.promotion}" if move.promotion else "rollback"
        parts.append(plain(f"{move.at:%Y-%m-%d %H:%M:%S} {move.release[:19]} by {move.who}, {how}: {move.reason}"))
    return Group(*parts)


def differences(one: Release, other: Release) -> RenderableType:
    """What is not the same in two releases; a line each."""
    table = bare_table("", f"{one.name} {one.digest[:19]}", f"{other.name} {other.digest[:19]}")
    for name, before, after in _differences(one, other):
        table.add_row(*map(plain, (name, before, after)))
    return table if table.row_count else plain("they have the same content")


def _differences(one: Release, other: Release) -> Iterator[tuple[str, str, str]]:
    for left, right in zip(_contents(one), _contents(other), strict=True):
        names = dict.fromkeys((*left, *right))
        yield from (
            (name, left.get(name, ""), right.get(name, "")) for name in names if left.get(name) != right.get(name)
        )


def _contents(one: Release) -> tuple[dict[str, str], ...]:
    """Whole things, components, and BIOS attributes."""
    whole = {"hardware class": one.hardware_class, "image": f"{one.image} {one.image_digest[:19]}"}
    whole |= {"firmware": one.firmware, "bios": one.bios, "burn-in": one.burn_in}
    constraints = {f"constraint {words(name)}": str(value) for name, value in one.constraints.items()}
    components = {part.component: part.version for part in one.components}
    attributes = {f"BIOS {name}": str(value) for name, value in one.bios_attributes.items()}
    return whole, components, attributes, constraints


def _gates(one: Promotion) -> Iterator[RenderableType]:
    for gate in one.gates:
        mark, colour = _MARKS.get(gate.state, ("?", "default"))
        yield Text.assemble((f"{mark} ", colour), (f"{words(gate.name)}: ", "bold"), plain(gate.seen))
        if gate.missing:
            yield plain(f"    missing: {gate.missing}")
        if gate.remedy:
            yield plain(f"    do: {gate.remedy}")
        for envelope in gate.evidence:
            yield plain(f"    by statement {envelope}")


def _people(one: Promotion) -> Iterator[RenderableType]:
    for approval in one.approvals:
        yield plain(f"approved by {approval.who}, {ago(approval.at)} ago")
    for waiver in one.waivers:
        until = f"{words(waiver.gate)} until {waiver.expires_at:%Y-%m-%d %H:%M} UTC: {waiver.reason}"
        if waiver.confirmed_by:
            yield plain(f"waived by {waiver.who} and {waiver.confirmed_by}: {until}")
        else:
            yield plain(f"{waiver.who} asks for a waiver of {until}; a second person confirms it: promote waive")
