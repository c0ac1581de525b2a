"""DMTF's validators, run as their authors publish them, find no failure in any persona."""

from collections.abc import Callable, Sequence

import pytest
from _pytest.mark.structures import ParameterSet

from emulator.persona.load import persona_names
from tests.conformance.expected import judge, load_rules
from tests.conformance.report import Finding, Result
from tests.conformance.site import Site
from tests.conformance.suites import Suite, suites_of
from tests.conformance.summary import LINE, RULES


def question(suite: Suite, persona: str) -> ParameterSet:
    """Suites that write run side by side in one worker; the others of a persona share its BMC."""
    group = "conformance writes" if suite.writes else f"conformance {persona}"
    marks = (pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group(group))
    return pytest.param(suite.name, persona, marks=marks, id=f"{suite.name}-{persona}")


QUESTIONS = [question(suite, persona) for persona in persona_names() for suite in suites_of(persona)]


def told(findings: Sequence[Finding], what: str) -> str:
    """One line a check, with the number of its findings and the first place."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.check, finding.message), []).append(finding.where)
    lines = [f"{check} ({len(where)}x, {where[0]}): {message}" for (check, message), where in places.items()]
    return "\n  ".join([f"{len(findings)} {what}", *sorted(lines)])


@pytest.mark.parametrize(("suite", "persona"), QUESTIONS)
def test_suite_finds_nothing_but_what_is_expected(
    site: Site, record_property: Callable[[str, object], None], suite: str, persona: str
) -> None:
    """DMTF's Redfish-Service-Validator, -Protocol-Validator, -Use-Case-Checkers and -Interop-Validator."""
    report = site.report(suite, persona)
    judgement = judge(report, load_rules())
    record_property(LINE, report.summary())
    record_property(RULES, sorted(judgement.used))
    failed = [finding for finding in judgement.unexpected if finding.result is Result.FAILED]
    if failed:
        pytest.fail(told(failed, "failures"), pytrace=False)
    if judgement.unexpected:
        pytest.fail(told(judgement.unexpected, "findings that expected.yaml does not hold"), pytrace=False)
