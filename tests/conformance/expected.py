"""What is known not to pass, and why: expected.yaml, and the page for people that is made of it.

`python -m tests.conformance.expected` writes emulator/CONFORMANCE.md anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from tests.checks.tree import ROOT
from tests.conformance.report import Finding, Report, Result

EXPECTED = Path(__file__).with_name("expected.yaml")
PAGE = ROOT / "emulator" / "CONFORMANCE.md"
_HEAD = """# Conformance

What DMTF's validators and the profiles of others say about the personas. Nothing fails on any persona; every warning
and every check that was not tested is listed here with its reason. A finding that the list does not hold fails the
tests. Suites, personas and counts are in the summary at the end of a test run.

Written from `tests/conformance/expected.yaml` by `python -m tests.conformance.expected`.
"""


class Rule(BaseModel):
    """Findings that are expected. `check` and `says` are shell patterns, `*` stands for anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suites: tuple[str, ...]
    result: Literal["warned", "not tested"]
    check: str
    says: str = "*"
    personas: tuple[str, ...] = ("*",)
    reason: str

    def covers(self, report: Report, finding: Finding) -> bool:
        """Whether the rule speaks of this finding."""
        return (
            finding.result == self.result
            and any(fnmatchcase(report.suite, suite) for suite in self.suites)
            and any(fnmatchcase(report.persona, persona) for persona in self.personas)
            and fnmatchcase(finding.check, self.check)
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
    """Compare a report with the rules; failures are no rule's business."""
    unexpected = []
    used = set()
    for finding in [*report.of(Result.WARNED), *report.of(Result.NOT_TESTED)]:
        number = next((number for number, rule in enumerate(rules) if rule.covers(report, finding)), None)
        if number is None:
            unexpected.append(finding)
        else:
            used.add(number)
    return Judgement(tuple(unexpected), frozenset(used))


def render(rules: Sequence[Rule]) -> str:
    """The page for people."""
    lines = [_HEAD]
    for result in ("warned", "not tested"):
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
