"""What a validator found, in one form for all of them."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """The four results that DMTF's tools know, in this project's words."""

    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"
    NOT_TESTED = "not tested"


# PASS, WARN, FAIL, SKIP and NOT_TESTED are the tools' words.
RESULTS = {
    "PASS": Result.PASSED,
    "WARN": Result.WARNED,
    "FAIL": Result.FAILED,
    "SKIP": Result.NOT_TESTED,
    "NOT_TESTED": Result.NOT_TESTED,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result. `check` is the same for every machine (`Chassis /Thermal`), `where` is a URI or an operation."""

    check: str
    where: str
    result: Result
    message: str

    def __str__(self) -> str:
        return f"{self.check} at {self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of one suite about one persona; `seconds` of wall time."""

    suite: str
    persona: str
    seconds: float
    findings: tuple[Finding, ...]

    def of(self, result: Result) -> list[Finding]:
        """The findings with one result."""
        return [finding for finding in self.findings if finding.result == result]

    def summary(self) -> str:
        """One line for people."""
        counts = ", ".join(f"{len(self.of(result)):5} {result}" for result in Result)
        return f"{self.suite:14} {self.persona:22} {counts}  ({self.seconds:.0f} s)"
