"""The list of what is expected is a list of reasons, and people can read it."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from emulator.recording.recording import read_recording
from tests.conformance.dmtf import need_dmtf, unpack_schemas
from tests.conformance.expected import PAGE, Rule, judge, load_rules, render
from tests.conformance.report import Finding, Report, Result
from tests.conformance.suites import SUITES, suites_of
from tests.redfish.tree_server import MOCKUPS
from tests.requirements import need

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


def test_a_rule_about_warnings_excuses_no_failure() -> None:
    assert judge(report(FAILURE), [rule(check="*")]).unexpected == (FAILURE,)


@pytest.mark.parametrize(
    "changes",
    [
        {"result": "failed"},
        {"result": "failed", "suites": ["protocol"], "recorded": [["tree", "/redfish/v1", "Boot"]]},
        {"recorded": [["tree", "/redfish/v1", "Boot"]]},
    ],
)
def test_a_failure_is_expected_of_a_profile_with_a_proof_only(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="fail"):
        rule(**changes)


@pytest.mark.parametrize(("tree", "path", "name"), [proof for rule in load_rules() for proof in rule.recorded])
def test_the_real_machine_lacks_what_a_persona_may_lack(tree: str, path: str, name: str) -> None:
    """`a/b` is the property b of a; `a=b`: the array a has no element b."""
    need(MOCKUPS.is_dir(), f"{MOCKUPS} is absent: recorded trees are not part of this repository")
    found: Any = read_recording(MOCKUPS / tree).get(path)
    assert found, f"{tree} has no {path}"
    names, _, element = name.partition("=")
    for part in names.split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    assert element not in (found or ()) if element else found is None


@pytest.mark.parametrize("proof", [rule.contradicts for rule in load_rules() if rule.contradicts])
def test_no_schema_has_what_a_profile_demands(tmp_path: Path, proof: tuple[str, str]) -> None:
    """The CSDL of the resource itself, not of its Links."""
    need_dmtf()
    schema, name = proof
    document = ET.parse(unpack_schemas(tmp_path) / f"{schema}_v1.xml")
    entities = document.iter("{http://docs.oasis-open.org/odata/ns/edm}EntityType")
    names = {part.get("Name") for entity in entities if entity.get("Name") == schema for part in entity}
    assert names
    assert name not in names


def test_the_gpu_board_profile_is_for_servers_with_an_hgx_board() -> None:
    """OCP UBB: baseboards with GPUs, as NVIDIA's HGX."""
    for persona in ("hgx-h100", "hgx-b200", "dgx-h100"):
        assert "ocp-gpu-board" in {suite.name for suite in suites_of(persona)}
    assert "ocp-gpu-board" not in {suite.name for suite in suites_of("nvlink-switch-tray")}
