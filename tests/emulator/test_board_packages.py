"""Packages of a whole board, in the form of DSP0267: over HTTPS, as NVIDIA's boards take them."""

from collections.abc import Iterator

import pytest

from emulator.package import board_package, board_packages
from emulator.persona.load import load_persona, persona_names
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import wait_for
from tests.emulator.one_bmc import OneBmc, each
from tests.emulator.updates import INVENTORY, ended, keys, push, taken_over, tasks

TRAY = load_persona("gb200-compute-tray")
NEWEST = {name: TRAY.components[name].newest for name in TRAY.update.boards["hgx"]}
WHOLE = board_package(TRAY, NEWEST)
HGX = {"Targets": ["/redfish/v1/Chassis/HGX_Chassis_0"]}
BOARDS = [name for name in persona_names() if load_persona(name).update.boards]


@pytest.fixture(scope="module")
def bmcs() -> Iterator[Iterator[OneBmc]]:
    with EmulatedFleet([Bmc("gb200-compute-tray") for _ in range(10)]) as fleet:
        yield each(fleet)


@pytest.fixture
def tray(bmcs: Iterator[OneBmc]) -> OneBmc:
    return next(bmcs)


def flashes(tray: OneBmc) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = tray.truth()["flashes"]
    return found


def test_one_package_brings_every_device_of_the_board(tray: OneBmc) -> None:
    """Each part of it to all devices with its SKU among the targets; they wait for the power cycle of their class."""
    client = taken_over(tray.bmc)
    assert push(client, WHOLE, HGX).status_code == 202
    ended(client)
    board = {key for key, slot in TRAY.slots.items() if key.startswith("HGX_FW_") and slot.component in NEWEST}
    assert flashes(tray) == {key: {NEWEST[TRAY.slots[key].component]: 1} for key in board}
    assert {tray.staged(key) for key in board} == set(NEWEST.values())
    assert tray.staged("FW_ERoT_BMC_0") is None, "the same kind of device, and not on this board"


def test_targets_choose_among_the_devices(tray: OneBmc) -> None:
    """One inventory entry: its part of the package, and nothing else."""
    client = taken_over(tray.bmc)
    assert push(client, WHOLE, {"Targets": [f"{INVENTORY}/HGX_FW_FPGA_1"]}).status_code == 202
    ended(client)
    assert flashes(tray) == {"HGX_FW_FPGA_1": {"1.60": 1}}


def test_a_target_that_the_package_is_not_for_is_told(tray: OneBmc) -> None:
    client = taken_over(tray.bmc)
    assert push(client, WHOLE, {"Targets": [f"{INVENTORY}/HGX_FW_FPGA_1", f"{INVENTORY}/UEFI"]}).status_code == 202
    task = ended(client, "Exception")
    assert "which UEFI is not" in task["Messages"][-1]["Message"]
    assert flashes(tray) == {}


@pytest.mark.parametrize("targets", [HGX, {"Targets": []}, {}])
def test_a_package_for_another_board_is_refused(tray: OneBmc, targets: dict[str, list[str]]) -> None:
    """NoTargetsDetermined of DMTF's Update registry; nothing is written."""
    client = taken_over(tray.bmc)
    other = next(content for content in board_packages(load_persona("hgx-h100")).values())
    assert push(client, other, targets).status_code == 202
    task = ended(client, "Exception")
    assert "NoTargetsDetermined" in keys(task)
    assert "devices with the SKU" in task["Messages"][-1]["Message"]
    assert flashes(tray) == {}


def test_what_a_device_holds_already_is_not_written_again(tray: OneBmc) -> None:
    """DSP0267: a component with the comparison stamp of what is there is left out, unless it is forced."""
    client = taken_over(tray.bmc)
    push(client, board_package(TRAY, {**NEWEST, "fpga": "1.1C"}), HGX)  # which runs already
    assert "NoTargetsDetermined" in keys(ended(client))
    assert not any("FPGA_" in key and "ERoT" not in key for key in flashes(tray))
    push(client, WHOLE, HGX)
    wait_for(lambda: len(tasks(client)) == 2)
    ended(client)
    assert {count for each in flashes(tray).values() for count in each.values()} == {1}
    assert tray.staged("HGX_FW_FPGA_0") == "1.60"


@pytest.mark.parametrize(("state", "status"), [("Exception", "Critical"), ("Completed", "Warning")])
def test_one_component_fails_and_the_others_are_written(tray: OneBmc, state: str, status: str) -> None:
    """DSP0267, ContinueComponentUpdatesAfterFailure; then the same package brings what is left."""
    client = taken_over(tray.bmc)
    tray.set_fault("component-fails", component="erot", state=state, times=1)
    push(client, WHOLE, HGX)
    task = ended(client, state)
    assert task["TaskStatus"] == status
    assert "VerificationFailed" in keys(task)
    written = {TRAY.slots[key].component for key in flashes(tray)}
    assert written == set(NEWEST) - {"erot"}
    push(client, WHOLE, HGX)
    wait_for(lambda: len(tasks(client)) == 2 and tasks(client)[-1]["TaskState"] == "Completed")
    assert {count for each in flashes(tray).values() for count in each.values()} == {1}


def test_without_that_option_the_rest_is_left(tray: OneBmc) -> None:
    """What was written before stays."""
    client = taken_over(tray.bmc)
    tray.set_fault("component-fails", component="fpga", times=1)
    push(client, board_package(TRAY, NEWEST, continues=False), HGX)
    ended(client, "Exception")
    assert {TRAY.slots[key].component for key in flashes(tray)} == {"hgx-bmc", "erot"}


@pytest.mark.parametrize("name", [name for name in BOARDS if load_persona(name).update.multipart_uri])
def test_every_persona_with_a_board_takes_its_own(name: str) -> None:
    persona = load_persona(name)
    newest = {one: persona.components[one].newest for one in persona.update.boards["hgx"]}
    with EmulatedFleet([Bmc(name)]) as fleet:
        client = taken_over(fleet.bmcs[0])
        assert push(client, board_package(persona, newest)).status_code == 202
        wait_for(lambda: tasks(client) and tasks(client)[-1]["TaskState"] in {"Completed", "Exception"})
        assert tasks(client)[-1]["TaskState"] == "Completed", tasks(client)[-1]["Messages"]
        flashed = fleet.truth(fleet.bmcs[0].name)["flashes"]
        assert {persona.slots[key].component for key in flashed} == set(newest)
