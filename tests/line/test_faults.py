"""One rack, one fault per server: the line brings each to ready by itself, or holds it with an instruction."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from emulator.testing import Bmc
from tests.line.site import Site, site

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(1200)]


@dataclass(frozen=True, slots=True)
class Case:
    """`held`: words that the reason of the hold contains; empty when the node gets ready by itself."""

    name: str
    fault: dict[str, dict[str, Any]] = field(default_factory=dict)
    persona: str = "hgx-h100"
    held: str = ""
    owner: str = "technician"


CASES = (
    Case("healthy HGX"),
    Case("healthy Dell", persona="dell-xe9680"),
    Case("healthy GB200", persona="gb200-compute-tray"),
    Case("wrong password", {"wrong-password": {}}, held="401"),
    Case("placeholder serial", {"placeholder-serial": {}}, held="placeholder"),
    Case("digits for a serial", {"duplicate-serial": {"serial": "0123456789"}}, held="placeholder"),
    Case("one serial twice, first", {"duplicate-serial": {"serial": "TWIN4711XY"}}, held="also reported by"),
    Case("one serial twice, second", {"duplicate-serial": {"serial": "TWIN4711XY"}}, held="also reported by"),
    Case("HTML for ever", {"html-answers": {"method": "GET"}}, held="no Redfish but"),
    Case("503 for ever", {"service-unavailable": {}}, held="503"),
    Case("refused for ever", {"refuse-connections": {}}, held="no connection"),
    Case("HTML for a while", {"html-answers": {"times": 3}}),
    Case("503 for a while", {"service-unavailable": {"times": 4}}),
    Case("half a JSON for a while", {"half-body": {"times": 3, "method": "GET"}}),
    Case("half a JSON for ever", {"half-body": {"method": "GET"}}, held="half"),
    Case("password change without an answer", {"slow-answers": {"times": 2, "seconds": 1.0}}),
    Case("reset without an answer", {"post-answer-lost": {"path": "Actions/ComputerSystem.Reset", "times": 1}}),
    Case("update without an answer", {"post-answer-lost": {"path": "UpdateService.SimpleUpdate", "times": 1}}),
    Case("task vanishes when done", {"task-vanishes": {"when": "completion"}}),
    Case("task vanishes at once", {"task-vanishes": {"when": "start"}}),
    Case("task fails once", {"task-fails": {"times": 1}}),
    Case("expand is wrong", {"expand-broken": {}}),
    Case("expand gives links", {"expand-broken": {"how": "links"}}, persona="dell-xe9680"),
    Case("ETag is compulsory", {"etag-required": {}}),
    Case("power is lost in the first boot", {"power-lost-while-booting": {}}),
    Case("power is lost in the first boot by PXE", {"power-lost-while-booting": {}}, persona="gb200-compute-tray"),
    Case("agent is killed", {"agent-killed": {}}),
    Case("image is corrupted once", {"wrong-artefact": {"times": 1}}),
    Case("image is corrupted for ever", {"wrong-artefact": {}}, held="its boot failed (integrity)"),
    Case("image breaks off once", {"root-transfer-breaks": {"bytes": 4096}}),
    Case("image does not fit", {"root-does-not-fit": {"mebibytes": 0}}, held="its boot failed (memory)"),
    Case("power is lost in the initrd", {"power-lost-in-initrd": {}}),
    Case("initrd finds no network", {"initrd-without-network": {}}, held="nothing in it has asked for the words"),
    Case("BMC refuses an .efi for HTTP boot", {"http-boot-uri-refused": {"status": 400}}),
    Case("BMC fails on an .efi for HTTP boot", {"http-boot-uri-refused": {"status": 500}}),
    Case("HttpBootUri reads None", {"http-boot-uri-reads-none": {}}),
    Case("HttpBootUri is ignored", {"http-boot-uri-ignored": {}}),
    Case("the override is always continuous", {"boot-always-continuous": {}}),
    Case("Secure Boot stays on", {"secure-boot-stays-on": {}}, "dell-xe9680", "Secure Boot is on", "operator"),
    Case("a GPU is missing", {"gpu-missing": {"index": 3}}, held="7 GPUs answer"),
    Case("BIOS update takes its settings away", {"bios-defaults-after-update": {}}),
    Case("BIOS drops a value", {"bios-late-rejection": {}}, held="set and reset, yet", owner="technician"),
    Case(
        "flash keeps the old version",
        {"flash-completes-old-version": {"component": "cpld"}},
        held="CPLD_Motherboard runs",
    ),
    Case("healthy HPE, every component, GPUs are PCIe devices", persona="hpe-xl675d"),
)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every case at once, until nobody moves any more."""
    bmcs = [Bmc(case.persona, faults=({**case.fault},) if case.fault else ()) for case in CASES]
    with site(tmp_path_factory.mktemp("line"), bmcs, change=_forget_serials) as running:
        running.start()
        running.until_settled()
        yield running


def _forget_serials(expected: dict[str, Any]) -> None:
    """The plan does not know the serial of servers that report another one: that would be found first."""
    for node, case in zip(expected["nodes"], CASES, strict=True):
        if "duplicate-serial" in case.fault or "placeholder-serial" in case.fault:
            del node["serial"]


def _name(case: Case) -> str:
    return f"r01-u{CASES.index(case) + 1:02}"


@pytest.mark.parametrize("case", [case for case in CASES if not case.held], ids=lambda case: case.name)
def test_gets_ready_by_itself(line: Site, case: Case) -> None:
    """Nobody was asked for anything."""
    node = line.ask(f"/v1/nodes/{_name(case)}")
    assert node["state"] == "ready", node


@pytest.mark.parametrize("case", [case for case in CASES if case.held], ids=lambda case: case.name)
def test_is_held_with_what_was_seen_and_what_to_do(line: Site, case: Case) -> None:
    """Who, where, what, and how we will know that it is done."""
    node = line.ask(f"/v1/nodes/{_name(case)}")
    assert node["state"] == "held", node
    hold = node["hold"]
    assert case.held in hold["reason"]
    told = hold["instruction"]
    assert told["owner"] == case.owner
    assert all(told[word] for word in ("where", "what", "done_when"))


def test_no_component_is_flashed_twice(line: Site) -> None:
    """Whatever was lost on the way."""
    assert line.flashed_twice() == []


def test_a_healthy_server_runs_its_image_once(line: Site) -> None:
    """One that boots by PXE of its own accord must not be switched off while it does."""
    for case in CASES:
        if not case.fault:
            assert line.fleet.truth(_name(case))["boots"] == 1


def test_a_wrong_password_is_tried_twice_at_most(line: Site) -> None:
    """And the account is not locked."""
    truth = line.fleet.truth(_name(next(case for case in CASES if case.name == "wrong password")))
    assert 1 <= truth["failed_logins"] <= 2
    assert not truth["locked"]


def test_a_reset_whose_answer_was_lost_is_not_repeated(line: Site) -> None:
    """Each one that was sent switched the server off or on; a slow machine may try a boot twice."""
    reset = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
    for name in ("reset without an answer", "healthy HGX"):
        truth = line.fleet.truth(_name(next(case for case in CASES if case.name == name)))
        assert truth["requests"][reset] == truth["switched"] + truth["resets"], name


def test_every_server_has_a_password_of_ours_that_works(line: Site) -> None:
    """The factory password is gone from every server that got ready."""
    for case in CASES:
        if not case.held:
            bmc = next(bmc for bmc in line.fleet.bmcs if bmc.name == _name(case))
            assert line.fleet.truth(bmc.name)["credentials"]["password"] != bmc.password


def test_no_secret_is_in_any_log(line: Site) -> None:
    """Passwords in force, boot keys and tokens."""
    log = (line.folder / "daemon.log").read_text()
    secrets = [line.fleet.truth(bmc.name)["credentials"]["password"] for bmc in line.fleet.bmcs]
    secrets += [bmc.password for bmc in line.fleet.bmcs]
    secrets.append((line.folder / "admin-token").read_text().strip())
    assert [secret for secret in secrets if secret in log] == []


def test_every_transition_has_a_reason(line: Site) -> None:
    """The history can be read without the log."""
    for event in line.history("r01-u01"):
        assert event["reason"]
