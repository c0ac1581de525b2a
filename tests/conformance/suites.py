"""The suites that judge a BMC: how each is run, and where it says what it found."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from emulator.testing import RunningBmc
from tests.conformance.report import RESULTS, Finding, Report

_LAUNCH = Path(__file__).with_name("launch.py")
_LIMIT_SECONDS = 500
# requests prefers these to the "do not verify" of a session.
_CERTIFICATE_STORES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class Suite:
    """`arguments` may name {schemas} and {profiles}. A suite that writes mostly waits, and needs a BMC of its own."""

    name: str
    package: str
    arguments: tuple[str, ...]
    writes: bool = False
    personas: str = ".*"


SUITES = (
    Suite(
        "service",
        "redfish_service_validator",
        ("--logdir", ".", "--schema_directory", "{schemas}", "--skipschema"),
    ),
    Suite(
        "protocol",
        "redfish_protocol_validator",
        ("--no-cert-check", "--report-dir", ".", "--report-type", "tsv"),
        writes=True,
    ),
    Suite("use-cases", "redfish_use_case_checkers", ("--report-dir", "."), writes=True),
    Suite(
        "ocp-baseline",
        "redfish_interop_validator",
        ("--logdir", ".", "{profiles}/OCPBaselineHardwareManagement.v1_1_1.json"),
    ),
    Suite(
        "ocp-server",
        "redfish_interop_validator",
        ("--logdir", ".", "{profiles}/OCPServerHardwareManagement.v1_1_0.json"),
    ),
    Suite(
        "ocp-gpu-board",
        "redfish_interop_validator",
        ("--logdir", ".", "{profiles}/OCP_UBB_BaselineManagement.v1.0.0.json"),
        personas="(hgx|dgx)-.*",
    ),
    Suite(
        "ironic",
        "redfish_interop_validator",
        ("--logdir", ".", "{profiles}/OpenStackIronicProfile.v1_2_0.json"),
    ),
)


def suite_named(name: str) -> Suite:
    """The suite; StopIteration for a name that is none."""
    return next(suite for suite in SUITES if suite.name == name)


def suites_of(persona: str) -> list[Suite]:
    """The suites that a persona has to pass."""
    return [suite for suite in SUITES if re.fullmatch(suite.personas, persona)]


@dataclass(frozen=True, slots=True)
class Material:
    """Folders of what the validators read, and one to write into."""

    schemas: Path
    profiles: Path
    reports: Path


def run_suite(suite: Suite, bmc: RunningBmc, material: Material) -> Report:
    """Run it against a BMC. Raises AssertionError with its output when it ends without a report."""
    folder = material.reports / f"{suite.name}-{bmc.name}"
    folder.mkdir()
    arguments = [part.format(schemas=material.schemas, profiles=material.profiles) for part in suite.arguments]
    target = ["--user", bmc.username, "--password", bmc.password, "--rhost", bmc.url]
    command = [sys.executable, "-P", str(_LAUNCH), suite.package, *target, *arguments]
    started = time.monotonic()
    run = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=_LIMIT_SECONDS)
    findings = tuple(read_findings(folder))
    assert findings, f"{suite.name} about {bmc.persona} ended without a report:\n{(run.stdout + run.stderr)[-3000:]}"
    return Report(suite.name, bmc.persona, time.monotonic() - started, findings)


def environment() -> dict[str, str]:
    """Ours, without what would make a client check the emulator's own certificates."""
    return {name: value for name, value in os.environ.items() if name not in _CERTIFICATE_STORES}


def read_findings(folder: Path) -> Iterator[Finding]:
    """What the suite left in its folder: findings.json (launch.py), or the protocol validator's table."""
    results = folder / "findings.json"
    if results.exists():
        for check, where, result, message in json.loads(results.read_text(encoding="utf-8")):
            yield Finding(without_indexes(check), where, RESULTS[result], message)
    for table in folder.glob("RedfishProtocolValidationReport_*.tsv"):
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                where = f"{row['Method']} {row['URI']}".strip() or "no request"
                yield Finding(row["Assertion"], where, RESULTS[row["Result"]], row["Message"])


def without_indexes(check: str) -> str:
    """`Power /PowerControl/0/PowerLimit` is the same check in each element."""
    return re.sub(r"/\d+(?=/|$)", "", check)
