"""The list of what is expected is a list of reasons, and people can read it."""

from tests.conformance.expected import PAGE, Rule, judge, load_rules, render
from tests.conformance.report import Finding, Report, Result
from tests.conformance.suites import SUITES, suites_of

WARNING = Finding("Chassis /Thermal", "/redfish/v1/Chassis/1", Result.WARNED, "Deprecated Property Warning: old")
FAILURE = Finding("Chassis /Name", "/redfish/v1/Chassis/1", Result.FAILED, "missing")


def rule(**changes: object) -> Rule:
    fields = {"suites": ["service"], "result": "warned", "check": "Chassis /T*", "reason": "r"}
    return Rule.model_validate(fields | changes)


def report(*findings: Finding) -> Report:
    return Report("service", "hgx-h100", 1.0, findings)


def test_every_rule_has_a_reason_and_speaks_of_suites_that_there_are() -> None:
    names = {suite.name for suite in SUITES} | {"ocp-*"}
    assert all(rule.reason.endswith(".") and set(rule.suites) <= names for rule in load_rules())


def test_the_page_for_people_is_the_list() -> None:
    """`python -m tests.conformance.expected` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == render(load_rules())


def test_the_emulator_s_readme_leads_to_the_page() -> None:
    assert f"]({PAGE.name})" in (PAGE.parent / "README.md").read_text(encoding="utf-8")


def test_a_warning_that_a_rule_covers_is_expected() -> None:
    judgement = judge(report(WARNING), [rule(check="Nothing"), rule()])
    assert (judgement.unexpected, judgement.used) == ((), frozenset({1}))


def test_a_rule_covers_only_its_suite_persona_result_and_words() -> None:
    others = [
        rule(suites=["protocol"]),
        rule(personas=["dell-*"]),
        rule(result="not tested"),
        rule(says="*new*"),
        rule(check="Thermal *"),
    ]
    assert judge(report(WARNING), others).unexpected == (WARNING,)


def test_no_rule_excuses_a_failure() -> None:
    assert report(FAILURE, WARNING).of(Result.FAILED) == [FAILURE]
    assert FAILURE not in judge(report(FAILURE), [rule(check="*")]).unexpected


def test_the_gpu_board_profile_is_for_servers_with_an_hgx_board() -> None:
    """OCP UBB: baseboards with GPUs, as NVIDIA's HGX."""
    for persona in ("hgx-h100", "hgx-b200", "dgx-h100"):
        assert "ocp-gpu-board" in {suite.name for suite in suites_of(persona)}
    assert "ocp-gpu-board" not in {suite.name for suite in suites_of("nvlink-switch-tray")}
