"""What is known not to pass, and why: expected.yaml, and the page for people that is made of it.

`python -m tests.conformance.expected` writes emulator/CONFORMANCE.md anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from tests.checks.tree import ROOT
from tests.conformance.report import Finding, Report, Result

EXPECTED = Path(__file__).with_name("expected.yaml")
PAGE = ROOT / "emulator" / "CONFORMANCE.md"
_PROFILES = ("ocp-server", "ocp-gpu-board", "ironic")
_HEAD = """# Conformance

What DMTF's validators and the profiles of others say about the personas. Nothing fails in the service, protocol and
use-case suites. A profile fails only where the real machine fails it too (a tray or a card is not all that a profile
for servers expects), or where it contradicts the schema. Every such failure, every warning and every check that was
not tested is listed here with its reason; a finding that the list does not hold fails the tests. Suites, personas and
counts are in the summary at the end of a test run.

Written from `tests/conformance/expected.yaml` by `python -m tests.conformance.expected`.
"""


class Rule(BaseModel):
    """Findings that are expected. `check`, `where` and `says` are shell patterns, `*` stands for anything.

    A failure may be expected of a profile only: when the real machine lacks the same (`recorded`: recorded tree, path,
    property), or when the schema has no such property (`contradicts`: schema, property).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    suites: tuple[str, ...]
    result: Literal["failed", "warned", "not tested"]
    check: str
    where: str = "*"
    says: str = "*"
    personas: tuple[str, ...] = ("*",)
    reason: str
    recorded: tuple[tuple[str, str, str], ...] = ()
    contradicts: tuple[str, str] | None = None

    @model_validator(mode="after")
    def _failures_are_real(self) -> "Rule":
        if (self.result == "failed") != bool(self.recorded or self.contradicts):
            raise ValueError(f"{self.check}: a failure is expected only with its proof")
        if self.result == "failed" and not all(suite in _PROFILES for suite in self.suites):
            raise ValueError(f"{self.check}: only profiles may fail")
        return self

    def covers(self, report: Report, finding: Finding) -> bool:
        """Whether the rule speaks of this finding."""
        return (
            finding.result == self.result
            and any(fnmatchcase(report.suite, suite) for suite in self.suites)
            and any(fnmatchcase(report.persona, persona) for persona in self.personas)
            and fnmatchcase(finding.check, self.check)
            and fnmatchcase(finding.where, self.where)
            and fnmatchcase(finding.message, self.says)
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """`unexpected`: what no rule covers. `used`: the numbers of the rules that covered something."""

    unexpected: tuple[Finding, ...]
    used: frozenset[int]


def load_rules() -> tuple[Rule, ...]:
    """The rules of expected.yaml."""
    return tuple(Rule.model_validate(entry) for entry in yaml.safe_load(EXPECTED.read_text(encoding="utf-8")))


def judge(report: Report, rules: Sequence[Rule]) -> Judgement:
    """Compare a report with the rules."""
    unexpected = []
    used = set()
    for finding in [*report.of(Result.FAILED), *report.of(Result.WARNED), *report.of(Result.NOT_TESTED)]:
        number = next((number for number, rule in enumerate(rules) if rule.covers(report, finding)), None)
        if number is None:
            unexpected.append(finding)
        else:
            used.add(number)
    return Judgement(tuple(unexpected), frozenset(used))


def render(rules: Sequence[Rule]) -> str:
    """The page for people."""
    lines = [_HEAD]
    for result in ("failed", "warned", "not tested"):
        lines += [f"## {result.capitalize()}", "", "| suite | check | personas | reason |", "|---|---|---|---|"]
        lines += [_row(rule) for rule in rules if rule.result == result]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(rule: Rule) -> str:
    personas = "all" if rule.personas == ("*",) else ", ".join(rule.personas)
    said = "" if rule.says == "*" else f" `{rule.says}`"
    check = f"`{rule.check}`{said}".replace("|", "\\|")
    return f"| {', '.join(rule.suites)} | {check} | {personas} | {rule.reason} |"


if __name__ == "__main__":
    PAGE.write_text(render(load_rules()), encoding="utf-8")
