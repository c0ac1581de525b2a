"""A recorded tree that the emulator replays has no faults but its own, says DMTF's service validator."""

import dataclasses
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import pytest

from emulator.recording.recording import read_recording
from emulator.testing import RunningBmc
from tests.checks.tree import ROOT
from tests.conformance.dmtf import copy_profiles, need_dmtf, unpack_schemas
from tests.conformance.report import Finding, Report, Result
from tests.conformance.suites import Material, run_suite, suite_named
from tests.conformance.test_validators import told
from tests.requirements import need

RECORDINGS = ROOT.parent / "shared" / "mockups"
MACHINES = (
    "dell-r750-idrac9",
    "gigabyte-h262-z63-megarac",
    "hpe-xl675d-a100-ilo5",
    "lenovo-sr670v2-xcc",
    "nvidia-bluefield3-dpu-bmc",
    "nvidia-dgx-h100",
    "nvidia-gb-nvlink-switch-tray",
    "nvidia-gb200-nvl-compute-tray",
    "supermicro-gb300",
    "supermicro-sys-821ge-tnhr",
)


@contextmanager
def replayed(folder: Path) -> Iterator[RunningBmc]:
    """`firstlight-emulator replay FOLDER`: one BMC, whose address and login it prints."""
    ports = ["--port", str(free_port()), "--admin-port", str(free_port())]
    command = [sys.executable, "-m", "emulator", "replay", str(folder), "--speed", "0", "--power", "On", *ports]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        printed = [process.stdout.readline() for _ in range(2)]
        assert "emulator ready" in printed[1], printed
        name, url, username, password = printed[0].split()
        address, port = url.removeprefix("https://").split(":")
        try:
            yield RunningBmc(name.rstrip(":"), address, int(port), folder.name, "", "", username, password)
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@pytest.fixture
def material(tmp_path: Path) -> Material:
    need_dmtf()
    (tmp_path / "reports").mkdir()
    return Material(unpack_schemas(tmp_path / "schemas"), copy_profiles(tmp_path / "profiles"), tmp_path / "reports")


@pytest.mark.slow
@pytest.mark.timeout(1100)
@pytest.mark.parametrize(
    "machine", [pytest.param(machine, marks=pytest.mark.xdist_group(f"replay {machine}")) for machine in MACHINES]
)
def test_replay_adds_no_failure(material: Material, machine: str) -> None:
    """With --mockup the validator reads the recorded files; it asks the BMC only for what is not among them."""
    folder = RECORDINGS / machine
    need(folder.is_dir(), f"the recorded tree {folder} is not here")
    suite = suite_named("service")
    files = dataclasses.replace(suite, name="files", arguments=(*suite.arguments, "--mockup", str(folder)))
    with replayed(folder) as bmc:
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
