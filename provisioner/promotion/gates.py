"""The gates: what each looks at, what it misses, and what a person does about it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from provisioner.models.promotion import Gate, GateName, GateState, Promotion
from provisioner.promotion.facts import Facts
from provisioner.promotion.freeze import frozen
from provisioner.promotion.policy import Policy
from provisioner.promotion.statements import sbom, signatures, tests

Judge = Callable[[Promotion, Facts, Policy, datetime], Gate]


def judge(promotion: Promotion, facts: Facts, policy: Policy, now: datetime) -> tuple[Gate, ...]:
    """Every gate, in the order of `GateName`, with the waivers that hold."""
    return tuple(_waived(judge_one(promotion, facts, policy, now), promotion, now) for judge_one in _GATES.values())


def approvers(promotion: Promotion, builders: frozenset[str]) -> tuple[str, ...]:
    """Whose approvals count: neither who asked for it nor who built it; each person once."""
    names = dict.fromkeys(one.who for one in promotion.approvals)
    return tuple(name for name in names if name != promotion.requester and name not in builders)


def approvals_needed(facts: Facts, policy: Policy) -> int:
    """One more where firmware of some node cannot go back."""
    return policy.approvals + (1 if policy.approvals and facts.one_way else 0)


def _stops(_promotion: Promotion, facts: Facts, _policy: Policy, _now: datetime) -> Gate:
    if not facts.stops:
        return Gate(GateName.STOPS, GateState.PASSED, "no stop rule is open against it")
    return Gate(
        GateName.STOPS,
        GateState.FAILED,
        f"{len(facts.stops)} open: {'; '.join(facts.stops)}",
        "no stop rule may be open against a release that is promoted",
        "look at what stopped it (firstlight rollout list), and correct it or cancel this promotion",
    )


def _compatibility(_promotion: Promotion, facts: Facts, _policy: Policy, _now: datetime) -> Gate:
    misfits = list(facts.misfits)
    for one in facts.pool:
        misfits += [f"from {one.name} ({one.digest[:19]}): {refusal}" for refusal in one.edge.refusals]
    known = ", ".join(f"{one.name} on {one.nodes} nodes" for one in facts.pool) or "nothing yet"
    if misfits:
        return Gate(
            GateName.COMPATIBILITY,
            GateState.FAILED,
            f"the pool runs {known}: {'; '.join(misfits)}",
            "every node of the pool has to be able to go to it",
            "make a release that fits (firstlight compat check, firstlight firmware plan), and request that",
        )
    no_return = f"; no way back for {', '.join(facts.one_way)}" if facts.one_way else ""
    return Gate(GateName.COMPATIBILITY, GateState.PASSED, f"the pool runs {known}; all of it can go to it{no_return}")


def _soak(_promotion: Promotion, facts: Facts, policy: Policy, _now: datetime) -> Gate:
    wanted, has = policy.soak, facts.soak
    parts = (
        ("hours", has.hours, wanted.hours),
        ("node-hours", has.node_hours, wanted.node_hours),
        ("racks", float(has.domains), float(wanted.domains)),
    )
    asked = [(word, have, need) for word, have, need in parts if need > 0]
    if not asked:
        return Gate(GateName.SOAK, GateState.NOT_NEEDED, "this channel asks for none")
    seen = ", ".join(f"{have:.1f} of {need:g} {word}" for word, have, need in asked)
    missing = ", ".join(f"{need - have:.1f} {word}" for word, have, need in asked if have < need)
    if not missing:
        return Gate(GateName.SOAK, GateState.PASSED, seen)
    remedy = "leave the nodes that run it in service; nobody has to do anything"
    if has.nodes == 0:
        remedy = f"give it to some nodes: firstlight node reimage NODE --release {facts.release.name}"
    return Gate(GateName.SOAK, GateState.WAITING, seen, missing, remedy)


def _second_person(promotion: Promotion, facts: Facts, policy: Policy, _now: datetime) -> Gate:
    needed = approvals_needed(facts, policy)
    if needed == 0:
        return Gate(GateName.SECOND_PERSON, GateState.NOT_NEEDED, "this channel asks for none")
    names = approvers(promotion, facts.builders)
    why = f", as firmware of {', '.join(facts.one_way)} has no way back" if facts.one_way else ""
    seen = f"{len(names)} of {needed}{why}" + (f": {', '.join(names)}" if names else "")
    if len(names) >= needed:
        return Gate(GateName.SECOND_PERSON, GateState.PASSED, seen)
    who = ", ".join(sorted({promotion.requester, *facts.builders}))
    return Gate(
        GateName.SECOND_PERSON,
        GateState.WAITING,
        seen,
        f"{needed - len(names)} more, by somebody else than {who}",
        f"an approver runs: firstlight promote approve {promotion.id}",
    )


def _freeze(_promotion: Promotion, _facts: Facts, policy: Policy, now: datetime) -> Gate:
    if not policy.freezes:
        return Gate(GateName.FREEZE, GateState.NOT_NEEDED, "no freeze is in the calendar of this channel")
    found = frozen(policy.freezes, now)
    if found is None:
        return Gate(GateName.FREEZE, GateState.PASSED, "no freeze is in force")
    freeze, thaws = found
    until = thaws.astimezone(freeze.zone)
    return Gate(
        GateName.FREEZE,
        GateState.WAITING,
        f"{freeze.name} is in force until {until:%Y-%m-%d %H:%M %Z}",
        "the end of the freeze",
        "wait; it is applied by itself then. What cannot wait is waived by two persons",
    )


def _waived(gate: Gate, promotion: Promotion, now: datetime) -> Gate:
    if gate.is_open:
        return gate
    for one in promotion.waivers:
        if one.gate is gate.name and one.holds(now):
            told = f"{gate.seen}; waived by {one.who} and {one.confirmed_by} until {one.expires_at:%Y-%m-%d %H:%M %Z}"
            return replace(gate, state=GateState.WAIVED, seen=f"{told}: {one.reason}", missing="", remedy="")
    return gate


_GATES: Mapping[GateName, Judge] = {
    GateName.SIGNATURES: signatures,
    GateName.TESTS: tests,
    GateName.SBOM: sbom,
    GateName.STOPS: _stops,
    GateName.COMPATIBILITY: _compatibility,
    GateName.SOAK: _soak,
    GateName.SECOND_PERSON: _second_person,
    GateName.FREEZE: _freeze,
}
