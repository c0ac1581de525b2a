"""A recorded tree that the emulator replays has no faults but its own, says DMTF's service validator."""

import dataclasses
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from emulator.recording.recording import read_recording
from tests.conformance.dmtf import copy_profiles, need_dmtf, unpack_schemas
from tests.conformance.report import Finding, Report, Result
from tests.conformance.suites import Material, run_suite, suite_named
from tests.conformance.test_validators import told
from tests.emulator.replays import SERVERS, replaying
from tests.redfish.tree_server import MOCKUPS


@pytest.fixture
def material(tmp_path: Path) -> Material:
    need_dmtf()
    (tmp_path / "reports").mkdir()
    return Material(unpack_schemas(tmp_path / "schemas"), copy_profiles(tmp_path / "profiles"), tmp_path / "reports")


@pytest.mark.slow
@pytest.mark.timeout(1100)
@pytest.mark.parametrize(
    "machine", [pytest.param(machine, marks=pytest.mark.xdist_group(f"replay {machine}")) for machine in SERVERS]
)
def test_replay_adds_no_failure(material: Material, machine: str) -> None:
    """With --mockup the validator reads the recorded files; it asks the BMC only for what is not among them."""
    folder = MOCKUPS / machine
    suite = suite_named("service")
    files = dataclasses.replace(suite, name="files", arguments=(*suite.arguments, "--mockup", str(folder)))
    with replaying((machine,), speed=0, power="On") as replays:
        bmc = replays.clients[machine].bmc
        own = recorded_failures(run_suite(files, bmc, material), folder)
        failures = run_suite(suite, bmc, material).of(Result.FAILED)
    added = [finding for finding in failures if identity(finding) not in own]
    if added:
        pytest.fail(told(added, "failures that the recorded tree has not"), pytrace=False)


def recorded_failures(report: Report, folder: Path) -> set[tuple[str, str]]:
    """What is wrong in the files, whatever case links write them in, and what they lead to that was not recorded."""
    recording = read_recording(folder)
    return {
        identity(finding)
        for finding in report.of(Result.FAILED)
        if recording.get(unquote(finding.where)) or "HTTP 404" in finding.message
    }


def identity(finding: Finding) -> tuple[str, str]:
    """The same fault of the same property, whatever the value was at the moment."""
    return finding.where.rstrip("/"), re.sub(r"^\S+ ", "", finding.check)
