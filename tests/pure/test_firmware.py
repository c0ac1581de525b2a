"""From an inventory and a bundle to what is flashed, and what a look at a task means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.component import Activation
from provisioner import versions
from provisioner.firmware.plan import as_complete, matching, plan_updates, unproven
from provisioner.firmware.task import TaskVerdict, flashes, judge_task, may_run_for, ours, waits_for_reset
from provisioner.models.inventory import FirmwareComponent, Task
from tests.pure.samples import bundle, part

BUNDLE = bundle(
    bmc=("BMC", "2.0", "bmc_reset"),
    bios=("BIOS*", "1.4", "host_reset"),
    gpu=("HGX_FW_GPU_*", "96.00.BC", "power_cycle"),
)
IDS = ["BMC", "bios", "BIOS_Backup", "HGX_FW_GPU_1", "hgx_fw_gpu_2", "NIC_1", "PSU"]
reported = st.sampled_from(["2.0", "1.4", "96.00.bc ", "96.00.BC", "0.1", "", "N/A", "Not Present", None])
inventories = st.lists(
    st.builds(part, st.sampled_from(IDS), reported, updateable=st.booleans()), unique_by=lambda one: one.id, max_size=7
).map(tuple)


def equal_to(wanted: dict[str, str]) -> tuple[FirmwareComponent, ...]:
    """An inventory as the bundle wants it."""
    return tuple(part(identifier, version) for identifier, version in wanted.items())


RIGHT = equal_to({"BMC": "2.0", "BIOS": "1.4 ", "HGX_FW_GPU_1": "96.00.bc", "HGX_FW_GPU_2": "96.00.BC"})


def test_an_equal_inventory_needs_nothing() -> None:
    plan = plan_updates(BUNDLE, RIGHT)
    assert (plan.updates, plan.refusals) == ((), ())
    assert not plan.power_cycle
    assert not plan.bmc_reset
    assert unproven(BUNDLE, RIGHT) == ()


@given(inventories)
def test_targets_are_exactly_the_parts_behind(inventory: tuple[FirmwareComponent, ...]) -> None:
    """And never a part that reports no version, or that cannot be updated: it may be absent, or silent for a moment."""
    updates = {update.component: update for update in plan_updates(BUNDLE, inventory).updates}
    for wanted in BUNDLE.components:
        behind = [
            one
            for one in matching(wanted, inventory)
            if one.updateable
            and not versions.is_missing(one.version)
            and not versions.equal(one.version, wanted.version)
        ]
        update = updates.get(wanted.component)
        assert (update.targets if update else ()) == tuple(one.uri for one in behind)
        assert (update.running if update else ()) == tuple(one.version for one in behind)


@given(inventories)
def test_updates_of_a_stage_are_in_the_order_of_the_bundle(inventory: tuple[FirmwareComponent, ...]) -> None:
    for stage in plan_updates(BUNDLE, inventory).stages:
        planned = [update.component for update in stage.updates]
        assert planned == [one.component for one in BUNDLE.components if one.component in planned]


@given(inventories)
def test_every_reason_is_named(inventory: tuple[FirmwareComponent, ...]) -> None:
    refusals = plan_updates(BUNDLE, inventory).refusals
    for wanted in BUNDLE.components:
        parts = matching(wanted, inventory)
        mine = [text for text in refusals if text.startswith(f"{wanted.component}: ")]
        stuck = [
            one
            for one in parts
            if versions.is_missing(one.version)
            or (not one.updateable and not versions.equal(one.version, wanted.version))
        ]
        assert bool(mine) == bool(stuck or not parts)
        assert all(any(one.id in text for text in mine) for one in stuck)


@given(inventories)
def test_proven_means_planned_for_nothing_and_refused_for_nothing(inventory: tuple[FirmwareComponent, ...]) -> None:
    plan = plan_updates(BUNDLE, inventory)
    left = unproven(BUNDLE, inventory)
    assert (left == ()) == (plan.updates == () and plan.refusals == ())
    assert {update.component for update in plan.updates} <= set(left)


@given(inventories)
def test_after_flashing_what_was_planned_nothing_is_left(inventory: tuple[FirmwareComponent, ...]) -> None:
    plan = plan_updates(BUNDLE, inventory)
    flashed = {uri: update.version for update in plan.updates for uri in update.parts}
    after = tuple(
        FirmwareComponent(one.id, one.uri, one.name, flashed.get(one.uri, one.version), one.updateable)
        for one in inventory
    )
    assert plan_updates(BUNDLE, after).updates == ()


@given(inventories, inventories)
def test_an_inventory_that_lost_parts_is_not_complete(
    now: tuple[FirmwareComponent, ...], before: tuple[FirmwareComponent, ...]
) -> None:
    complete = as_complete(BUNDLE, now, before)
    assert complete == all(
        len(matching(one, now)) >= len(matching(one, before)) and matching(one, now) for one in BUNDLE.components
    )


@pytest.mark.parametrize("activation", list(Activation))
def test_what_has_to_be_reset_follows_from_the_activation(activation: Activation) -> None:
    plan = plan_updates(bundle(one=("A", "2", activation.value)), (part("A", "1"),))
    assert plan.power_cycle == (activation not in {Activation.NONE, Activation.BMC_RESET})
    assert plan.bmc_reset == (activation is Activation.BMC_RESET)


RUNNING = ["New", "Starting", "Running", "Pending", "Service", "Something else", ""]
FAILED = ["Cancelled", "Cancelling", "Exception", "Interrupted", "Killed", "Stopping", "Suspended"]


def task(state: str, status: str = "", targets: tuple[str, ...] = ()) -> Task:
    """One look."""
    return Task("/tasks/1", state, status, None, (), targets)


@pytest.mark.parametrize("status", ["", "OK", "Warning", "Critical"])
@pytest.mark.parametrize("state", [*RUNNING, *FAILED, "Completed"])
def test_what_a_task_says(state: str, status: str) -> None:
    """A task that completed with status Critical has failed (ironcore-dev/metal-operator#453)."""
    expected = TaskVerdict.RUNNING if state in RUNNING else TaskVerdict.FAILED
    if state == "Completed" and status != "Critical":
        expected = TaskVerdict.JUDGE_BY_VERSION
    assert judge_task(task(state, status)) is expected


def test_a_task_that_is_gone_is_judged_by_the_version() -> None:
    assert judge_task(None) is TaskVerdict.JUDGE_BY_VERSION


def test_a_task_is_ours_when_its_targets_are() -> None:
    assert ours(task("Running", targets=("b", "a")), ("a", "b"))
    assert not ours(task("Running", targets=("a",)), ("a", "b"))
    assert not ours(task("Running"), ())


@pytest.mark.parametrize("state", [*RUNNING, *FAILED, "Completed"])
def test_what_flashes_now_is_waited_for(state: str) -> None:
    """An update that waits for the host's reset would be waited for in vain."""
    assert flashes(task(state, targets=("a",))) == (state in RUNNING and state != "Pending")
    assert not flashes(task(state))


def test_what_may_run_for_a_part_forbids_a_reset() -> None:
    assert may_run_for(task("Running"), ("a",))
    assert may_run_for(task("Running", targets=("a", "b")), ("a",))
    assert not may_run_for(task("Running", targets=("b",)), ("a",))
    assert not may_run_for(task("Completed"), ("a",))


def test_a_job_that_waits_for_a_reset_neither_flashes_nor_bars_the_reset() -> None:
    """Jobs of iDRAC stay scheduled until the host is reset: waiting for their end would wait for ever."""
    job = Task("/t", "Pending", "OK", 0, (), ("/redfish/v1/UpdateService/FirmwareInventory/BIOS",))
    assert waits_for_reset(job)
    assert not flashes(job)
