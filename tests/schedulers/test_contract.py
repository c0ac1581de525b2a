"""Every scheduler, by one set of promises. Slurm is real; Kubernetes' API server is ours, over real HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import (
    CheckpointThenRequeue,
    Force,
    OurReason,
    SchedulerView,
    Standing,
    WaitForJobs,
    release_label,
)
from tests.schedulers.site import People, Site

GREEN = ReleaseDigest("sha256:" + "a1" * 32)
BLUE = ReleaseDigest("sha256:" + "b2" * 32)
OURS = OurReason("green-7", 3, "to a1a1a1")
SPARING = CheckpointThenRequeue(grace=timedelta(0))


async def view(site: Site) -> SchedulerView:
    return (await site.scheduler.look([site.node]))[site.node]


async def until(look: Callable[[], Awaitable[SchedulerView]], right: Callable[[SchedulerView], bool]) -> SchedulerView:
    """Look again and again, as a rollout does."""
    async with asyncio.timeout(60):
        while True:
            if right(seen := await look()):
                return seen
            await asyncio.sleep(0.1)


def people_of(site: Site) -> People:
    assert site.people is not None
    return site.people


async def test_many_nodes_are_seen_with_one_call_and_a_stranger_is_unknown(site: Site, has_people: bool) -> None:
    stranger = NodeName("r99-u99")
    views = await site.scheduler.look([*site.nodes, stranger])
    assert {views[node].standing for node in site.nodes} == {Standing.IN_SERVICE}
    if has_people:  # without a scheduler every name is as good as another
        assert views[stranger].standing is Standing.UNKNOWN
        assert stranger in views[stranger].unknown
        with pytest.raises(SchedulerError, match=stranger):
            await site.scheduler.cordon(stranger, OURS)


async def test_a_cordon_is_ours_by_rollout_and_epoch_and_given_back(site: Site) -> None:
    cordoned = await site.scheduler.cordon(site.node, OURS)
    assert cordoned.ours("green-7") == OURS
    assert not cordoned.vetoes("green-7")
    assert (await site.scheduler.look(site.nodes))[site.nodes[1]].standing is Standing.IN_SERVICE
    assert (await site.scheduler.drain(site.node, OURS, WaitForJobs())).standing is Standing.DRAINED
    assert not (await site.scheduler.uncordon(site.node, OURS)).cordons
    assert not (await view(site)).cordons


async def test_twice_is_as_once(site: Site) -> None:
    for act in (site.scheduler.cordon, site.scheduler.uncordon):
        first = await act(site.node, OURS)
        assert (await act(site.node, OURS)).cordons == first.cordons


async def test_who_is_killed_after_the_cordon_finds_it_again(site: Site) -> None:
    """The scheduler itself carries whose cordon it is: no record of ours is needed to know it."""
    await site.scheduler.cordon(site.node, OURS)
    second = site.again()
    again = await second.cordon(site.node, OurReason("green-7", 4))
    assert again.ours("green-7") == OurReason("green-7", 4)
    assert not (await second.uncordon(site.node, OurReason("green-7", 4))).cordons


async def test_a_controller_whose_time_is_over_changes_nothing(site: Site) -> None:
    await site.scheduler.cordon(site.node, OurReason("green-7", 5))
    late = OurReason("green-7", 4)
    for act in (site.scheduler.cordon, site.scheduler.uncordon, site.scheduler.expect_reboot):
        with pytest.raises(SchedulerError, match="epoch 5"):
            await act(site.node, late)
    with pytest.raises(SchedulerError, match="taken over"):
        await site.scheduler.drain(site.node, late, WaitForJobs())
    assert (await view(site)).ours("green-7") == OurReason("green-7", 5)


async def test_the_cordon_of_another_rollout_is_named_and_stays(site: Site) -> None:
    await site.scheduler.cordon(site.node, OURS)
    other = OurReason("blue-2", 9)
    for act in (site.scheduler.cordon, site.scheduler.uncordon):
        seen = await act(site.node, other)
        assert [one.reason for one in seen.vetoes("blue-2")] == [OURS.text]
    with pytest.raises(SchedulerError, match="green-7"):
        await site.scheduler.drain(site.node, other, Force("ann"))
    assert (await view(site)).ours("green-7") == OURS


async def test_a_release_label_takes_the_place_of_the_last_one(site: Site) -> None:
    await site.scheduler.cordon(site.node, OURS)
    for release in (BLUE, GREEN, GREEN):
        labelled = await site.scheduler.label(site.node, release)
        assert labelled.release_labels == {release_label(release)}
    lifted = await site.scheduler.uncordon(site.node, OURS)
    assert lifted.release_labels == {release_label(GREEN)}


async def test_labels_of_others_are_kept(peopled: Site) -> None:
    people_of(peopled).give_label(peopled.node, "fast-nvme")
    labels = (await peopled.scheduler.label(peopled.node, GREEN)).labels
    assert {"fast-nvme", release_label(GREEN)} <= labels


async def test_a_running_job_delays_the_drain_and_is_not_touched(peopled: Site) -> None:
    job = people_of(peopled).start_job(peopled.node)
    for _ in range(2):
        seen = await peopled.scheduler.drain(peopled.node, OURS, WaitForJobs())
        assert seen.standing is Standing.DRAINING
        assert [one.id for one in seen.jobs] == [job]
    people_of(peopled).end_job(job)
    await until(lambda: view(peopled), lambda seen: seen.standing is Standing.DRAINED)


async def test_jobs_that_outlive_the_deadline_are_named(peopled: Site) -> None:
    job = people_of(peopled).start_job(peopled.node)
    policy = WaitForJobs(peopled.clock.now() + timedelta(hours=1))
    assert not (await peopled.scheduler.drain(peopled.node, OURS, policy)).blocked
    peopled.clock.ahead = timedelta(hours=2)
    late = await peopled.scheduler.drain(peopled.node, OURS, policy)
    assert late.standing is Standing.DRAINING
    assert any(job in one and "after the deadline" in one for one in late.blocked)


async def test_a_job_may_save_its_work_and_then_goes(peopled: Site) -> None:
    job = people_of(peopled).start_job(peopled.node)
    drain = lambda: peopled.scheduler.drain(peopled.node, OURS, SPARING)  # noqa: E731
    if peopled.requeues:
        await until(drain, lambda seen: seen.standing is Standing.DRAINED)
    else:
        stuck = await until(drain, lambda seen: bool(seen.blocked))
        assert f"scontrol requeue {job}" in stuck.blocked[0]


async def test_force_ends_what_runs_and_needs_a_name(peopled: Site) -> None:
    people_of(peopled).start_stubborn_job(peopled.node)
    with pytest.raises(ValueError, match="who has permitted it"):
        Force(" ")
    drain = lambda: peopled.scheduler.drain(peopled.node, OURS, Force("ann"))  # noqa: E731
    await until(drain, lambda seen: seen.standing is Standing.DRAINED)


async def test_a_drain_that_could_not_go_on_goes_on_once_the_cause_is_gone(peopled: Site) -> None:
    """okd-project/okd#593: a drain that had failed five times was never tried again."""
    job = people_of(peopled).start_stubborn_job(peopled.node)
    drain = lambda: peopled.scheduler.drain(peopled.node, OURS, SPARING)  # noqa: E731
    for _ in range(6):
        stuck = await until(drain, lambda seen: bool(seen.blocked))
        assert stuck.standing is Standing.DRAINING
        assert any(job in one for one in stuck.blocked)
    people_of(peopled).ease(job)
    if not peopled.requeues:
        people_of(peopled).end_job(job)
    await until(drain, lambda seen: seen.standing is Standing.DRAINED)


async def test_what_a_person_has_cordoned_is_named_and_never_lifted(peopled: Site) -> None:
    """NVIDIA/gpu-operator#2820."""
    people_of(peopled).cordon(peopled.node, "ann: fan 3 rattles")
    for act in (peopled.scheduler.cordon, peopled.scheduler.uncordon):
        seen = await act(peopled.node, OURS)
        assert seen.standing is Standing.CORDONED
        assert len(seen.vetoes("green-7")) == 1
    for act in (peopled.scheduler.cordon, peopled.scheduler.uncordon):
        assert (await act(peopled.node, OURS)).ours("green-7") is None
    with pytest.raises(SchedulerError, match="not ours to drain"):
        await peopled.scheduler.drain(peopled.node, OURS, Force("bob"))
    with pytest.raises(SchedulerError, match="not ours to drain"):
        await peopled.scheduler.expect_reboot(peopled.node, OURS)
    people_of(peopled).lift(peopled.node)
    assert (await peopled.scheduler.cordon(peopled.node, OURS)).ours("green-7") == OURS


async def test_no_reboot_is_prepared_under_a_job(peopled: Site) -> None:
    job = people_of(peopled).start_job(peopled.node)
    await peopled.scheduler.cordon(peopled.node, OURS)
    with pytest.raises(SchedulerError, match=job):
        await peopled.scheduler.expect_reboot(peopled.node, OURS)
    people_of(peopled).end_job(job)
    await until(lambda: view(peopled), lambda seen: seen.standing is Standing.DRAINED)
    assert (await peopled.scheduler.expect_reboot(peopled.node, OURS)).standing is Standing.DRAINED


async def test_of_a_scheduler_that_is_away_nothing_is_known(peopled: Site) -> None:
    await peopled.scheduler.cordon(peopled.node, OURS)
    assert peopled.away is not None
    with peopled.away():
        with pytest.raises(SchedulerError) as away:
            await peopled.scheduler.look([peopled.node])
        assert away.value.remedy
        with pytest.raises(SchedulerError):
            await peopled.scheduler.drain(peopled.node, OURS, WaitForJobs())
    await until(lambda: view(peopled), lambda seen: seen.ours("green-7") == OURS)
