"""What differs between update services: shipped personas over HTTPS, what none of them has yet by the part."""

import asyncio
import datetime as dt
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emulator.clock import Clock
from emulator.config import BmcEntry
from emulator.kind import load_kind
from emulator.machine.board import Board, open_board
from emulator.machine.firmware import Firmware
from emulator.machine.state_folder import StateFolder
from emulator.machine.tasks import Tasks, TasksFullError
from emulator.machine.update_orders import Order
from emulator.package import Header, Image, build_package
from emulator.persona.firmware import Component
from emulator.persona.persona import Persona
from emulator.redfish.task_document import payload
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.updates import INVENTORY, SERVICE, SIMPLE_UPDATE, TASKS, ended, package, push, taken_over, tasks

_ENTRY = BmcEntry(
    name="one", address="127.0.0.1", persona="hgx-h100", serial="S1", uuid="11111111-2222-4333-8444-555555555555"
)


def board(persona: Persona | None = None, **parts: dict[str, Any]) -> Board:
    """A machine whose persona is a little different."""
    opened = open_board(_ENTRY, Clock(0), StateFolder(None))
    changed = persona or load_kind("hgx-h100").persona
    for name, values in parts.items():
        changed = changed.model_copy(update={name: getattr(changed, name).model_copy(update=values)})
    opened.kind = replace(opened.kind, persona=changed)
    return opened


def component(name: str, **values: Any) -> Persona:
    """The HGX persona with another component class."""
    persona = load_kind("hgx-h100").persona
    known: dict[str, Component] = {**persona.components}
    known[name] = known[name].model_copy(update=values)
    return persona.model_copy(update={"components": known})


def order(name: str, version: str, **values: Any) -> Order:
    async def load() -> Image:
        content = build_package(Header(name, "hgx-h100", version), 4096)
        return Image(content, len(content))

    return Order(load, **values)


async def settled(tasks_of: Tasks) -> None:
    async with asyncio.timeout(10):
        while not all(task.ended for task in tasks_of.listing()):  # noqa: ASYNC110  (nothing tells when)
            await asyncio.sleep(0.01)


def firmware(of: Board) -> tuple[Firmware, Tasks]:
    known = Tasks(of)
    return Firmware(of, known, lambda: None), known


async def test_each_target_can_have_a_task_of_its_own() -> None:
    """DSP0268, Task.SubTasks."""
    flasher, known = firmware(board(tasks={"sub_tasks": True}))
    task = flasher.begin(order("nvswitch", "96.10.6D.00.01"))
    await settled(known)
    parts = known.listing(task.id)
    assert [part.name.rpartition(" ")[2] for part in parts] == [f"HGX_FW_NVSwitch_{number}" for number in range(4)]
    assert {part.state for part in parts} == {"Completed"}
    assert known.listing() == [task]
    known.forget(task)
    assert known.listing(task.id) == []


def test_a_service_that_overwrites_no_task_takes_no_more() -> None:
    """CompletedTaskOverWritePolicy Manual, as iLO has it."""
    known = Tasks(board(tasks={"overwrite": "Manual", "most": 1}))
    first = known.create("one")
    first.end("Completed", "Done.")
    with pytest.raises(TasksFullError):
        known.create("two")
    known.forget(first)
    assert known.create("two").state == "New"


def test_an_ended_task_goes_by_itself() -> None:
    """TaskAutoDeleteTimeoutMinutes."""
    known = Tasks(board(tasks={"auto_delete_minutes": 1}))
    first, second = known.create("one"), known.create("two")
    for task in (first, second):
        task.end("Completed", "Done.")
    first.ended_at = time.time() - 61
    assert known.listing() == [second]


@pytest.mark.parametrize("hides", [False, True])
def test_a_task_says_what_was_asked_for_or_hides_it(hides: bool) -> None:
    """DSP0268, Task.HidePayload."""
    of = board(tasks={"hide_payload": hides})
    known = Tasks(of)
    task = known.create("one")
    task.request_path, task.request_body = "/redfish/v1/UpdateService/upload", "{}"
    assert payload(of.persona, task).keys() == ({"HidePayload"} if hides else {"Payload"})


async def test_a_flash_while_the_second_slot_is_copied_may_damage_the_new_image() -> None:
    """H7: unsafe where it is not refused: the new image does not start, the old one goes on."""
    persona = component("cpld", background_copy_seconds=600)
    of = board(persona, update={"during_copy": "unsafe"})
    of.clock = Clock(1000)
    flasher, known = firmware(of)
    for version in ("F5.11.CD", "F5.11.CE"):
        task = flasher.begin(order("cpld", version))
        await settled(known)
        flasher.activate("power_cycle")
    assert of.version("CPLD_Motherboard") == "F5.11.CD"
    assert task.messages[-1].message_id == "Update.1.0.ActivateFailed"
    assert task.status == "Warning"
    flasher.begin(order("cpld", "F5.11.CE"))
    await settled(known)
    flasher.activate("ac_cycle")
    assert of.version("CPLD_Motherboard") == "F5.11.CE"


@pytest.mark.parametrize(
    ("declared", "not_by", "by"),
    [
        ("host_reset", ("bmc_reset",), "host_reset"),
        ("power_cycle", ("bmc_reset", "host_reset"), "power_cycle"),
        ("aux_cycle", ("bmc_reset", "host_reset", "power_cycle"), "aux_cycle"),
        ("ac_cycle", ("bmc_reset", "host_reset", "power_cycle", "aux_cycle"), "ac_cycle"),
        ("bmc_reset", ("host_reset", "power_cycle"), "aux_cycle"),
    ],
)
async def test_each_activation_takes_its_own_event(declared: str, not_by: tuple[str, ...], by: str) -> None:
    """H10: a warm reset leaves the old version where an AC or auxiliary cycle is needed."""
    of = board(component("cpld", activation=declared))
    flasher, known = firmware(of)
    flasher.begin(order("cpld", "F5.11.CD"))
    await settled(known)
    for cause in not_by:
        flasher.activate(cause)
    assert of.version("CPLD_Motherboard") == "F5.11.CB"
    flasher.activate(by)
    assert of.version("CPLD_Motherboard") == "F5.11.CD"


async def test_an_update_begins_with_its_maintenance_window() -> None:
    """DSP0268, AtMaintenanceWindowStart: Pending before, other updates may run meanwhile."""
    flasher, known = firmware(board())
    start = time.time() + 0.5
    waits = flasher.begin(order("psu", "2", apply="AtMaintenanceWindowStart", window=(start, start + 60)))
    await asyncio.sleep(0.1)
    assert (waits.state, flasher.busy) == ("Pending", False)
    await settled(known)
    assert time.time() >= start


async def test_a_job_outside_of_its_window_stays_scheduled() -> None:
    """DSP0268, InMaintenanceWindowOnReset: a reset before the window changes nothing."""
    of = board(component("bios", runs_in_post=True))
    flasher, known = firmware(of)
    later = time.time() + 3600
    task = flasher.begin(order("bios", "x", apply="InMaintenanceWindowOnReset", window=(later, later + 60)))
    async with asyncio.timeout(5):
        while task.state != "Pending":  # noqa: ASYNC110  (nothing tells when)
            await asyncio.sleep(0.01)
    phases: list[str] = []
    await flasher.run_in_post(lambda phase, _progress: phases.append(phase))
    assert (task.state, phases) == ("Pending", [])
    of.state.scheduled[0]["from"] = time.time() - 1
    await flasher.run_in_post(lambda phase, _progress: phases.append(phase))
    assert (task.state, phases, of.version("BIOS")) == ("Completed", ["post"], "x")
    assert known.find(task.id) is task


def test_lenovo_shows_its_pending_slots_and_checks_servers_when_told(tmp_path: Path) -> None:
    """XCC: BMC-Primary-Pending reads `-*` while it is empty; VerifyRemoteServerCertificate (H18)."""
    bmcs = [Bmc("lenovo-sr670v2"), Bmc("hgx-h100")]
    with EmulatedFleet(bmcs, directory=tmp_path) as fleet:
        client = taken_over(fleet.bmcs[0])
        assert client.get(f"{INVENTORY}/BMC-Primary-Pending")["Version"] == "-*"
        body = {"ImageURI": f"{fleet.bmcs[1].url}/redfish/v1", "TransferProtocol": "HTTPS"}
        for verify, words in ((False, "not a firmware package"), (True, "certificate")):
            assert client.send("PATCH", SERVICE, json={"VerifyRemoteServerCertificate": verify}).status_code == 204
            assert client.get(SERVICE)["VerifyRemoteServerCertificate"] is verify
            client.send("POST", SIMPLE_UPDATE, json=body)
            assert words in ended(client, "Exception")["Messages"][-1]["Message"]
            client.send("DELETE", client.get(TASKS)["Members"][-1]["@odata.id"])


def test_lenovo_takes_pushes_outside_of_redfish_v1() -> None:
    """XCC: MultipartHttpPushUri is /mfwupdate; one update at a time, 409 for another."""
    with EmulatedFleet([Bmc("lenovo-sr670v2")], speed=300) as fleet:
        client = taken_over(fleet.bmcs[0])
        assert client.get(SERVICE)["MultipartHttpPushUri"] == "/mfwupdate"
        target = {"Targets": [f"{INVENTORY}/UEFI"]}
        assert push(client, package("bios", "28L-2.30", "lenovo-sr670v2"), target).status_code == 202
        assert client.get(SERVICE)["HttpPushUriTargetsBusy"] is True
        assert client.send("POST", "/fwupdate", data=b"x").status_code == 409
        assert client.send("GET", "/fwupdate").status_code == 405
        assert client.send("GET", "/elsewhere").status_code == 404
        wait_for(lambda: tasks(client)[-1]["TaskState"] == "Completed")
        assert client.get(f"{INVENTORY}/UEFI-Pending")["Version"] == "28L-2.30"


def test_a_window_that_has_no_end_is_refused(client: BmcClient) -> None:
    """DSP0268, MaintenanceWindow: both properties are needed. No shipped persona has windows for firmware yet."""
    start = (dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)).isoformat()
    body = {
        "@Redfish.OperationApplyTime": "AtMaintenanceWindowStart",
        "@Redfish.MaintenanceWindow": {"MaintenanceWindowStartTime": start},
    }
    assert push(client, package("bios", "1"), body).status_code == 400
