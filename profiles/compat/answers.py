"""What a rule says, and what all of them say together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from profiles.compat.facts import Source


class Severity(StrEnum):
    """From the worst to none. Only what is less than a refusal can be waived."""

    REFUSAL = "refusal"
    UNKNOWN = "unknown"
    FINDING = "finding"
    PASS = "pass"


class Outcome(StrEnum):
    """The verdict: as the worst answer."""

    REFUSED = "refused"
    UNKNOWN = "unknown"
    FINDINGS = "findings"
    OK = "ok"


_OUTCOMES = {
    Severity.REFUSAL: Outcome.REFUSED,
    Severity.UNKNOWN: Outcome.UNKNOWN,
    Severity.FINDING: Outcome.FINDINGS,
    Severity.PASS: Outcome.OK,
}
_WORST_FIRST = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that one rule said. `name` is the same for the same thing always; `sources` are keys of the facts."""

    name: str
    severity: Severity
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A public document and its key."""

    key: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Reason:
    """An answer with the rule that gave it and its sources in words."""

    rule: str
    name: str
    severity: Severity
    text: str
    sources: tuple[CitedSource, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that was said, worst first."""

    outcome: Outcome
    said: tuple[Reason, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is not ok; empty when it is."""
        return tuple(one for one in self.said if one.severity is not Severity.PASS)

    @property
    def refusals(self) -> tuple[Reason, ...]:
        """What nothing but a change can help."""
        return tuple(one for one in self.said if one.severity is Severity.REFUSAL)


def refusal(name: str, text: str, sources: tuple[str, ...]) -> Answer:
    """It does not work, or not as the vendor supports it."""
    return Answer(name, Severity.REFUSAL, text, sources)


def unknown(name: str, text: str, sources: tuple[str, ...]) -> Answer:
    """No public source says whether it works."""
    return Answer(name, Severity.UNKNOWN, text, sources)


def finding(name: str, text: str, sources: tuple[str, ...]) -> Answer:
    """It works, and somebody must know and accept it."""
    return Answer(name, Severity.FINDING, text, sources)


def fine(name: str, text: str, sources: tuple[str, ...]) -> Answer:
    """It works."""
    return Answer(name, Severity.PASS, text, sources)


def cite(rule: str, answer: Answer, sources: Mapping[str, Source]) -> Reason:
    """The answer with its rule and the documents behind it."""
    keys = sorted(set(answer.sources), key=lambda key: int(key[1:]))
    cited = tuple(CitedSource(key, sources[key].title, sources[key].url) for key in keys)
    return Reason(rule, answer.name, answer.severity, answer.text, cited)


def judge(said: Iterable[Reason], waived: frozenset[str]) -> Verdict:
    """The verdict over everything that was said; the order in which it was said does not matter."""
    reasons = sorted({_waive(one, waived) for one in said}, key=_order)
    worst = reasons[0].severity if reasons else Severity.PASS
    return Verdict(_OUTCOMES[worst], tuple(reasons))


def _waive(reason: Reason, waived: frozenset[str]) -> Reason:
    if reason.name not in waived or reason.severity in {Severity.REFUSAL, Severity.PASS}:
        return reason
    return replace(reason, severity=Severity.PASS, text=f"{reason.text} (waived)")


def _order(reason: Reason) -> tuple[int, str, str, str]:
    return _WORST_FIRST.index(reason.severity), reason.rule, reason.name, reason.text
