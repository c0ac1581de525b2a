"""Tasks of updates: whose they are, and whether they get on."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from provisioner.firmware.proof import known_as, prove
from provisioner.firmware.task import Watch, flashes, has_stalled, its_own, watched
from provisioner.models.inventory import FirmwareComponent, Task
from tests.pure.samples import bundle, part

TARGET = "/inventory/BIOS"


def task(number: int, state: str = "Running", *, targets: tuple[str, ...] = (), name: str = "Firmware update") -> Task:
    """One of a list."""
    return Task(f"/tasks/{number}", state, "OK", 10, (), targets, name)


def test_the_task_of_an_update_is_the_new_one_with_its_targets() -> None:
    """metal-toolbox/bmclib#399: where no answer names it, the list does."""
    listed = [task(1, targets=(TARGET,)), task(2, targets=("/inventory/BMC",)), task(3, targets=(TARGET,))]
    assert its_own(listed, [TARGET], ["/tasks/1"]) == listed[2]
    assert its_own(listed, [TARGET], ["/tasks/1", "/tasks/3"]) is None


def test_of_two_tasks_that_say_nothing_none_is_taken() -> None:
    """A wrong task would be watched in place of ours."""
    assert its_own([task(1), task(2)], [TARGET], []) is None
    assert its_own([task(1), task(2)], [TARGET], ["/tasks/1"]) == task(2)
    assert its_own([task(1, name="Collect logs")], [TARGET], []) is None


def test_an_update_of_somebody_else_is_seen_without_targets() -> None:
    assert flashes(task(1, name="Update by another client"))
    assert flashes(replace(task(1, name="x"), request="/redfish/v1/UpdateService/update"))
    assert not flashes(task(1, name="Dump"))
    assert not flashes(task(1, "Pending"))


@given(st.lists(st.tuples(st.none() | st.integers(0, 100), st.integers(1, 600)), min_size=1, max_size=20))
def test_a_task_stalls_only_by_time_without_a_change(looks: list[tuple[int | None, int]]) -> None:
    """H4: no total limit; a missing percentage has a limit of its own."""
    watch: Watch | None = None
    now = same = 0.0
    last: tuple[int | None] | None = None
    for percent, seconds in looks:
        now += seconds
        watch = watched(watch, replace(task(1), percent=percent), now)
        same = same if last == (percent,) else now
        last = (percent,)
        limit = 900.0 if percent is None else 300.0
        later = now + 200
        assert has_stalled(watch, later, unchanged=300, unsaid=900) is (later - same > limit)


def _renamed(one: FirmwareComponent, identifier: str, *related: str) -> FirmwareComponent:
    return replace(one, id=identifier, uri=f"/inventory/{identifier}", related=related)


def test_a_part_with_a_new_id_is_known_by_what_it_belongs_to() -> None:
    """sonic-net/sonic-buildimage#29631: MGX_FW_* became FW_*; RelatedItem stayed."""
    wanted = bundle(gpu=("HGX_FW_GPU_*", "2", "power_cycle"))
    before = [replace(part(f"HGX_FW_GPU_{n}", "1"), related=(f"/gpu/{n}",)) for n in (0, 1)]
    now = [_renamed(part("x", "2"), f"FW_GPU_{n}", f"/gpu/{n}") for n in (0, 1)]
    seen = known_as(wanted, before, now)
    assert [one.id for one in seen] == ["HGX_FW_GPU_0", "HGX_FW_GPU_1"]
    assert [one.uri for one in seen] == ["/inventory/FW_GPU_0", "/inventory/FW_GPU_1"]
    assert prove(wanted, "gpu", "2", seen).runs
    assert known_as(wanted, before, before) == tuple(before)


def test_two_new_parts_of_one_resource_are_not_guessed_apart() -> None:
    wanted = bundle(gpu=("HGX_FW_GPU_*", "2", "power_cycle"))
    before = [replace(part("HGX_FW_GPU_0", "1"), related=("/gpu/0",))]
    now = [_renamed(part("x", "2"), f"FW_GPU_0_{slot}", "/gpu/0") for slot in "ab"]
    assert [one.id for one in known_as(wanted, before, now)] == ["FW_GPU_0_a", "FW_GPU_0_b"]


def test_what_says_nothing_is_no_proof() -> None:
    wanted = bundle(gpu=("GPU_*", "2", "power_cycle"))
    silent = prove(wanted, "gpu", "2", [part("GPU_0", "2"), part("GPU_1", None)])
    assert (silent.runs, silent.silent, silent.left) == (False, True, ("GPU_1 says no version",))
    assert prove(wanted, "gpu", "2", []).silent
    old = prove(wanted, "gpu", "2", [part("GPU_0", "2"), part("GPU_1", "1")])
    assert (old.runs, old.silent, old.left) == (False, False, ("GPU_1 runs 1",))
