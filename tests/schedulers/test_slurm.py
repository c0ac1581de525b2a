"""What is Slurm's own, against a real one: reboots through Slurm, its restarts, signals, REST of 22.05."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.models.scheduling import CheckpointThenRequeue, OurReason, SchedulerView, Standing, WaitForJobs
from provisioner.schedulers.factory import scheduler_for
from provisioner.schedulers.hostlist import expand_hostlist
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.settings import SlurmrestdSettings
from provisioner.schedulers.slurm import Slurm
from provisioner.schedulers.slurm_scontrol import Commands
from tests.images.processes import wait
from tests.schedulers.site import Later, Site
from tests.schedulers.slurm_cluster import Cluster
from tests.schedulers.test_contract import until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("slurm")]

NODE = NodeName("n0")
OURS = OurReason("green-7", 3, "to a1a1a1")


def looking(site: Site) -> Callable[[], Awaitable[SchedulerView]]:
    async def look() -> SchedulerView:
        return (await site.scheduler.look([NODE]))[NODE]

    return look


def boot(cluster: Cluster, node: str) -> None:
    """Its slurmd comes back and says that the node has booted."""
    cluster.stop(node)
    cluster.start_node(node, "-b")


async def test_no_job_starts_on_a_cordoned_node(slurm_commands: Site, cluster: Cluster) -> None:
    await slurm_commands.scheduler.cordon(NODE, OURS)
    job = cluster.submit(NODE)
    for _ in range(20):
        assert cluster.job_state(job) == "PENDING"
        await asyncio.sleep(0.1)
    await slurm_commands.scheduler.uncordon(NODE, OURS)
    wait(lambda: cluster.job_state(job) == "RUNNING", 60)


async def test_a_node_that_boots_stays_down_until_we_give_it_back(slurm_commands: Site, cluster: Cluster) -> None:
    """With ReturnToService=2 Slurm takes back every node that registers; not this one."""
    scheduler = slurm_commands.scheduler
    await scheduler.drain(NODE, OURS, WaitForJobs())
    assert (await scheduler.expect_reboot(NODE, OURS)).standing is Standing.DRAINED
    assert "DOWN" in cluster.state(NODE)
    boot(cluster, NODE)
    for _ in range(30):
        assert (await looking(slurm_commands)()).ours("green-7") == OURS
        await asyncio.sleep(0.1)
    back = await until(lambda: scheduler.uncordon(NODE, OURS), lambda seen: not seen.cordons)
    assert back.standing in {Standing.IN_SERVICE, Standing.UNKNOWN}
    await until(looking(slurm_commands), lambda seen: seen.standing is Standing.IN_SERVICE)


async def test_a_reboot_through_slurm_that_has_begun_is_never_drained(slurm_commands: Site, cluster: Cluster) -> None:
    """mej/nhc#84: it ends with RESUME, before any check, whatever is ordered meanwhile; so it is waited for."""
    scheduler = slurm_commands.scheduler
    await scheduler.cordon(NODE, OURS)
    cluster.run("scontrol", "reboot", "ASAP", NODE)
    wait(lambda: "REBOOT_ISSUED" in cluster.state(NODE), 60)
    seen = await looking(slurm_commands)()
    assert seen.standing is Standing.DRAINING
    assert "puts it back into service by itself" in seen.blocked[0]
    with pytest.raises(SchedulerError, match="not drained"):
        await scheduler.expect_reboot(NODE, OURS)
    boot(cluster, NODE)
    await until(looking(slurm_commands), lambda seen: seen.standing is Standing.IN_SERVICE)
    assert (await scheduler.drain(NODE, OURS, WaitForJobs())).standing is Standing.DRAINED


async def test_a_reboot_through_slurm_that_waits_for_jobs_is_cancelled(slurm_commands: Site, cluster: Cluster) -> None:
    scheduler = slurm_commands.scheduler
    job = cluster.start_job(NODE)
    await scheduler.cordon(NODE, OURS)
    cluster.run("scontrol", "reboot", "ASAP", NODE)
    assert "REBOOT_REQUESTED" in cluster.state(NODE)
    with pytest.raises(SchedulerError, match=job):
        await scheduler.expect_reboot(NODE, OURS)
    assert "REBOOT" not in cluster.state(NODE)
    assert (await looking(slurm_commands)()).ours("green-7") == OURS


async def test_a_restart_of_slurmctld_loses_no_cordon(slurm_commands: Site, cluster: Cluster) -> None:
    await slurm_commands.scheduler.cordon(NODE, OURS)
    cluster.stop("slurmctld")
    cluster.start_controller()
    assert (await looking(slurm_commands)()).ours("green-7") == OURS


async def test_a_job_is_told_once_to_save_its_work_however_often_it_is_drained(
    slurm_commands: Site, cluster: Cluster
) -> None:
    told = cluster.folder / "told"
    ready = cluster.folder / "ready"
    job = cluster.start_job(NODE, f"trap 'echo told >> {told}' USR1; touch {ready}; while true; do sleep 0.1; done")
    wait(ready.exists, 30)
    cluster.run("scontrol", "update", f"jobid={job}", "admincomment=ask ann first")
    policy = CheckpointThenRequeue(grace=timedelta(hours=1))
    for _ in range(3):
        await slurm_commands.scheduler.drain(NODE, OURS, policy)
    wait(told.exists, 30)
    assert told.read_text().splitlines() == ["told"]
    assert "AdminComment=ask ann first; firstlight-signalled=" in cluster.run("scontrol", "show", "job", job)
    assert (await looking(slurm_commands)()).standing is Standing.DRAINING
    slurm_commands.clock.ahead = timedelta(hours=1)
    drain = lambda: slurm_commands.scheduler.drain(NODE, OURS, policy)  # noqa: E731
    await until(drain, lambda seen: seen.standing is Standing.DRAINED)
    assert cluster.job_state(job) == "PENDING"


async def test_a_job_over_two_nodes_keeps_both_from_being_drained(slurm_commands: Site, cluster: Cluster) -> None:
    job = cluster.submit("n[0-1]", "exec sleep 600", "--nodes=2", "--time=60")
    wait(lambda: cluster.job_state(job) == "RUNNING", 60)
    for node in (NODE, NodeName("n1")):
        seen = await slurm_commands.scheduler.drain(node, OURS, WaitForJobs())
        assert [one.id for one in seen.jobs] == [job]
        assert seen.jobs[0].ends_at is not None


async def test_a_command_that_gives_no_answer_is_ended_in_time(cluster: Cluster, slurm_commands: Site) -> None:
    """Slurm's commands wait for a silent slurmctld for minutes."""
    hasty = Slurm(Commands(cluster.conf, timedelta(milliseconds=1)), Later(), NodeNames())
    with pytest.raises(SchedulerError, match="no answer within"):
        await hasty.look([NODE])
    assert (await looking(slurm_commands)()).standing is Standing.IN_SERVICE


async def test_slurmrestd_of_22_05_reads_and_says_that_it_cannot_change_nodes(cluster: Cluster, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"SLURM_JWT={cluster.token()}\n")
    url = f"http://127.0.0.1:{cluster.rest_port}"
    scheduler = scheduler_for(SlurmrestdSettings(kind="slurmrestd", url=url, user="root", token_file=token), Later())
    job = cluster.start_job(NODE)
    seen = (await scheduler.look([NODE]))[NODE]
    assert [one.id for one in seen.jobs] == [job]
    with pytest.raises(SchedulerError, match=r"offers v0\.0\.38, which cannot change nodes"):
        await scheduler.cordon(NODE, OURS)
    token.write_text("not.a.token")
    with pytest.raises(SchedulerError, match="says no") as refused:
        await scheduler.look([NODE])
    assert "not.a.token" not in str(refused.value)
    await scheduler.close()


@pytest.mark.parametrize("text", ["n[0-1]", "r[01-03]u[8-11],x", "a[1,3-5,007],c[2]", "gpu-1.hall-3", "n[098-101]"])
def test_host_lists_are_read_as_slurm_reads_them(cluster: Cluster, text: str) -> None:
    assert list(expand_hostlist(text)) == cluster.run("scontrol", "show", "hostnames", text).split()
