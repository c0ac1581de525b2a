"""The harness tells what a validator found, whatever it found."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.conformance.dmtf import copy_profiles, need_dmtf, unpack_schemas
from tests.conformance.report import Finding, Result
from tests.conformance.suites import Material, environment, read_findings, run_suite, suite_named


@pytest.fixture
def material(tmp_path: Path) -> Material:
    need_dmtf()
    (tmp_path / "reports").mkdir()
    return Material(unpack_schemas(tmp_path / "schemas"), copy_profiles(tmp_path / "profiles"), tmp_path / "reports")


@pytest.mark.slow
def test_a_bmc_that_answers_nonsense_fails(material: Material) -> None:
    """A service validator that finds nothing wrong with HTML in place of JSON would prove nothing."""
    with EmulatedFleet([Bmc(faults=({"html-answers": {"path": "/redfish/v1/Chassis"}},))]) as fleet:
        report = run_suite(suite_named("service"), fleet.bmcs[0], material)
    assert "(no resource) (resource)" in {finding.check for finding in report.of(Result.FAILED)}


@pytest.mark.slow
def test_the_launcher_changes_no_result(material: Material, tmp_path: Path) -> None:
    """The service validator as its authors publish it counts the same."""
    suite = suite_named("service")
    part = replace(suite, arguments=(*suite.arguments, "--payload", "Tree", "/redfish/v1/AccountService"))
    with EmulatedFleet() as fleet:
        bmc = fleet.bmcs[0]
        report = run_suite(part, bmc, material)
        login = ["--user", bmc.username, "--password", bmc.password, "--rhost", bmc.url]
        options = [option.format(schemas=material.schemas) for option in part.arguments]
        command = [str(Path(sys.executable).parent / "rf_service_validator"), *login, *options]
        printed = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True).stdout
    counts = re.search(r"\|\s+(\d+)\s+\|\s+(\d+)\s+\|\s+(\d+)\s+\|\s+(\d+)\s+\|", uncoloured(printed))
    assert counts, printed[-2000:]
    assert [len(report.of(result)) for result in Result] == [int(count) for count in counts.groups()]
    assert len(report.findings) > 50


def uncoloured(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text)


def test_a_tool_that_ends_without_a_report_is_told_with_its_output(material: Material) -> None:
    """No report is not a good report."""
    with EmulatedFleet() as fleet:
        bmc = fleet.bmcs[0]
    with pytest.raises(AssertionError, match="ended without a report"):
        run_suite(suite_named("ocp-baseline"), bmc, material)


def test_required_profiles_are_found_under_the_name_that_is_asked_for(material: Material) -> None:
    """redfish-interop-validator 3.0.4, profile.load_profile()."""
    assert (material.profiles / "OCPBaselineHardwareManagement.v1_1_0.json").exists()


def test_findings_of_array_elements_are_one_check(tmp_path: Path) -> None:
    (tmp_path / "findings.json").write_text('[["Power /PowerControl/0/PowerLimit", "/redfish/v1/x", "SKIP", "m"]]')
    expected = Finding("Power /PowerControl/PowerLimit", "/redfish/v1/x", Result.NOT_TESTED, "m")
    assert list(read_findings(tmp_path)) == [expected]


def test_the_protocol_validator_s_table_is_read(tmp_path: Path) -> None:
    """redfish-protocol-validator 1.3.2, report.tsv_report()."""
    head = "Assertion\tMethod\tStatus code\tURI\tResult\tMessage\tRequirement"
    row = 'REQ_X\tGET\t200\t/redfish/v1/\tWARN\tsaid "this\tshall'
    (tmp_path / "RedfishProtocolValidationReport_1.tsv").write_text(f"{head}\n{row}\n")
    assert list(read_findings(tmp_path)) == [Finding("REQ_X", "GET /redfish/v1/", Result.WARNED, 'said "this')]
