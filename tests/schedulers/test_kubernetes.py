"""What is Kubernetes' own: whose pods a drain is about, budgets, conflicts, and an API server on its bad days."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.models.scheduling import CheckpointThenRequeue, DrainPolicy, Force, OurReason, Standing, WaitForJobs
from provisioner.schedulers.kubernetes import Kubernetes
from provisioner.schedulers.kubernetes_api import KubernetesApi
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.web import Web
from tests.schedulers.kube_objects import Budget, new_pod
from tests.schedulers.kube_server import Fault, KubeServer
from tests.schedulers.site import Later

NODE = NodeName("n0")
OURS = OurReason("green-7", 3)


@pytest_asyncio.fixture
async def scheduler(kube: KubeServer) -> AsyncIterator[Kubernetes]:
    """One that is let go of at the end."""
    made = kubernetes_of(kube, timedelta(seconds=30))
    yield made
    await made.close()


def kubernetes_of(kube: KubeServer, timeout: timedelta, pattern: str = "{node}") -> Kubernetes:
    def headers() -> dict[str, str]:
        return {"Authorization": "Bearer right-token"}

    web = Web("kubernetes", kube.url, tls=None, headers=headers, timeout=timeout)
    return Kubernetes(KubernetesApi(web), Later(), NodeNames(pattern))


async def test_pods_that_a_drain_leaves_alone_do_not_hold_it_up(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.add_pod(new_pod("n0", "DaemonSet", "dcgm", "Always"))
    mirror = new_pod("n0", "Node", "proxy", "Always")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    kube.add_pod(mirror)
    over = new_pod("n0")
    over["status"]["phase"] = "Failed"
    kube.add_pod(over)
    kube.add_pod(new_pod("n1"))
    drained = await scheduler.drain(NODE, OURS, CheckpointThenRequeue())
    assert drained.standing is Standing.DRAINED
    assert len(kube.pods) == 4


async def test_waiting_for_jobs_moves_what_would_never_end(kube: KubeServer, scheduler: Kubernetes) -> None:
    job = kube.add_pod(new_pod("n0"))
    kube.add_pod(new_pod("n0", "ReplicaSet", "web", "Always"))
    seen = await scheduler.drain(NODE, OURS, WaitForJobs())
    assert [one.id for one in seen.jobs] == [job]


async def test_a_job_with_a_limit_tells_when_it_ends(kube: KubeServer, scheduler: Kubernetes) -> None:
    pod = new_pod("n0")
    pod["spec"]["activeDeadlineSeconds"] = 3600
    kube.add_pod(pod)
    (job,) = (await scheduler.look([NODE]))[NODE].jobs
    assert "2026-01-01 01:00 UTC" in str(job)


async def test_a_budget_that_says_no_is_named(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.budgets.append(Budget("keep-web", "web", 1))
    kube.add_pod(new_pod("n0", "ReplicaSet", "web", "Always"))
    seen = await scheduler.drain(NODE, OURS, CheckpointThenRequeue())
    assert seen.standing is Standing.DRAINING
    assert "PodDisruptionBudget ml/keep-web" in seen.blocked[0]
    kube.add_pod(new_pod("n1", "ReplicaSet", "web", "Always"))
    assert (await scheduler.drain(NODE, OURS, CheckpointThenRequeue())).standing is Standing.DRAINED


async def test_two_budgets_on_one_pod_are_an_error_that_says_so(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.budgets += [Budget("a", "web", 0), Budget("b", "web", 0)]
    kube.add_pod(new_pod("n0", "ReplicaSet", "web", "Always"))
    with pytest.raises(SchedulerError, match="more than one PodDisruptionBudget"):
        await scheduler.drain(NODE, OURS, CheckpointThenRequeue())


async def test_a_pod_that_nobody_would_make_again_is_not_evicted(kube: KubeServer, scheduler: Kubernetes) -> None:
    pod = kube.add_pod(new_pod("n0", None, "notebook", "Always"))
    for _ in range(2):
        seen = await scheduler.drain(NODE, OURS, CheckpointThenRequeue())
        assert "belongs to no controller" in seen.blocked[0]
    assert pod in kube.pods
    assert (await scheduler.drain(NODE, OURS, Force("ann"))).standing is Standing.DRAINED


async def test_a_pod_that_is_leaving_is_still_there_and_is_not_evicted_twice(
    kube: KubeServer, scheduler: Kubernetes
) -> None:
    kube.linger = True
    kube.add_pod(new_pod("n0"))
    for _ in range(3):
        assert (await scheduler.drain(NODE, OURS, CheckpointThenRequeue())).standing is Standing.DRAINING
    assert sum("/eviction" in one for one in kube.seen) == 1


@pytest.mark.parametrize("policy", [CheckpointThenRequeue(), Force("ann")])
async def test_a_new_pod_under_an_old_name_is_not_the_one_that_was_meant(
    kube: KubeServer, scheduler: Kubernetes, policy: DrainPolicy
) -> None:
    """A StatefulSet gives its names again; the new one may run elsewhere by now."""
    pod = new_pod("n0", "StatefulSet", "db", "Always")
    name = kube.add_pod(pod)
    await scheduler.cordon(NODE, OURS)

    def replace() -> None:
        kube.add_pod({**pod, "metadata": {**pod["metadata"], "uid": "another"}, "spec": {"nodeName": "n1"}})

    kube.before_change = replace
    assert (await scheduler.drain(NODE, OURS, policy)).standing is Standing.DRAINED
    assert kube.pods[name]["metadata"]["uid"] == "another"


async def test_no_grace_is_a_second_and_not_zero(kube: KubeServer, scheduler: Kubernetes) -> None:
    """gracePeriodSeconds 0 forgets a pod at once, while its processes may still run on the node."""
    for policy in (CheckpointThenRequeue(grace=timedelta(0)), Force("ann")):
        kube.add_pod(new_pod("n0"))
        await scheduler.drain(NODE, OURS, policy)
    kube.add_pod(new_pod("n0", "ReplicaSet", "web", "Always"))
    await scheduler.drain(NODE, OURS, WaitForJobs())
    assert kube.graces == [1, 1, None]


async def test_too_many_requests_say_when_to_come_back(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.add_pod(new_pod("n0"))
    kube.faults.append(Fault("/eviction", 429, headers={"Retry-After": "7"}, body="too many requests"))
    with pytest.raises(SchedulerError, match="too many requests") as busy:
        await scheduler.drain(NODE, OURS, CheckpointThenRequeue())
    assert busy.value.retry_after_seconds == 7
    assert (await scheduler.drain(NODE, OURS, CheckpointThenRequeue())).standing is Standing.DRAINED


async def test_a_conflict_is_read_again_and_written_again(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.before_change = lambda: kube.touch(kube.nodes["n0"])
    assert (await scheduler.cordon(NODE, OURS)).ours("green-7") == OURS
    assert sum(one.startswith("PATCH") for one in kube.seen) == 2


async def test_a_cordon_that_came_between_reading_and_writing_is_found(kube: KubeServer, scheduler: Kubernetes) -> None:
    def cordon_by_hand() -> None:
        kube.nodes["n0"]["spec"]["unschedulable"] = True
        kube.touch(kube.nodes["n0"])

    kube.before_change = cordon_by_hand
    seen = await scheduler.cordon(NODE, OURS)
    assert seen.standing is Standing.CORDONED
    assert seen.ours("green-7") is None


async def test_a_node_that_never_stops_changing_is_given_up_for_now(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.faults.append(Fault("PATCH", 409, times=1000))
    with pytest.raises(SchedulerError, match="changed by others"):
        await scheduler.cordon(NODE, OURS)


async def test_an_answer_that_is_lost_is_found_done(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.faults.append(Fault("PATCH", 503, after=True))
    with pytest.raises(SchedulerError, match="503"):
        await scheduler.cordon(NODE, OURS)
    assert (await scheduler.cordon(NODE, OURS)).ours("green-7") == OURS
    assert sum(one.startswith("PATCH") for one in kube.seen) == 1


async def test_a_server_that_takes_the_request_and_says_nothing_is_left_in_time(kube: KubeServer) -> None:
    """Half-open: the connection stands, nothing comes."""
    scheduler = kubernetes_of(kube, timedelta(seconds=1))
    kube.faults.append(Fault("/api/v1/pods", hang=True))
    with pytest.raises(SchedulerError, match="no answer within 1 s"):
        await scheduler.look([NODE])
    await scheduler.close()


async def test_what_cannot_be_read_is_not_an_empty_node(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.add_pod(new_pod("n0"))
    await scheduler.cordon(NODE, OURS)
    for status in (200, 403, 500, 503):
        kube.faults.append(Fault("/api/v1/pods", status))
        with pytest.raises(SchedulerError):
            await scheduler.look([NODE])


async def test_a_token_that_is_refused_is_not_told(kube: KubeServer, scheduler: Kubernetes) -> None:
    kube.token = "another one"
    with pytest.raises(SchedulerError, match="401") as refused:
        await scheduler.look([NODE])
    assert "right-token" not in str(refused.value)
    assert "kubectl auth can-i" in refused.value.remedy


async def test_a_person_keeps_us_off_a_node_that_we_have_cordoned(kube: KubeServer, scheduler: Kubernetes) -> None:
    """`kubectl cordon` changes nothing on a node that is cordoned: an annotation says it."""
    await scheduler.cordon(NODE, OURS)
    kube.nodes["n0"]["metadata"]["annotations"]["firstlight.dev/veto"] = "ann: keep it for me"
    kube.touch(kube.nodes["n0"])
    with pytest.raises(SchedulerError, match="ann: keep it for me"):
        await scheduler.drain(NODE, OURS, Force("bob"))
    left = await scheduler.uncordon(NODE, OURS)
    assert left.ours("green-7") is None
    assert left.standing is Standing.CORDONED
    assert kube.nodes["n0"]["spec"]["unschedulable"]


async def test_who_cordoned_is_told_as_far_as_the_server_knows(kube: KubeServer, scheduler: Kubernetes) -> None:
    node = kube.nodes["n0"]
    node["spec"]["unschedulable"] = True
    node["metadata"]["managedFields"] = [
        {"manager": "kubelet", "fieldsV1": {"f:status": {}}},
        {"manager": "kubectl-cordon", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}},
    ]
    (cordon,) = (await scheduler.look([NODE]))[NODE].cordons
    assert cordon.by == "kubectl-cordon"


async def test_a_cordon_of_ours_that_somebody_lifted_is_set_again(kube: KubeServer, scheduler: Kubernetes) -> None:
    await scheduler.cordon(NODE, OURS)
    kube.nodes["n0"]["spec"].pop("unschedulable")
    kube.touch(kube.nodes["n0"])
    assert (await scheduler.look([NODE]))[NODE].standing is Standing.IN_SERVICE
    assert (await scheduler.cordon(NODE, OURS)).ours("green-7") == OURS


async def test_a_node_whose_kubelet_is_silent_is_not_given_back(kube: KubeServer, scheduler: Kubernetes) -> None:
    await scheduler.cordon(NODE, OURS)
    kube.nodes["n0"]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
    with pytest.raises(SchedulerError, match="NodeStatusUnknown"):
        await scheduler.uncordon(NODE, OURS)
    kube.nodes["n1"]["status"]["conditions"] = []
    assert (await scheduler.look([NodeName("n1")]))[NodeName("n1")].standing is Standing.UNKNOWN


async def test_a_whole_hall_is_read_in_a_few_requests(kube: KubeServer) -> None:
    names = [NodeName(f"r{rack:02}-u{unit:02}") for rack in range(40) for unit in range(18)]
    for name in names:
        kube.add_node(f"{name}.hall")
        kube.add_pod(new_pod(f"{name}.hall"))
    scheduler = kubernetes_of(kube, timedelta(seconds=60), "{node}.hall")
    views = await scheduler.look(names)
    await scheduler.close()
    assert len(views) == 720
    assert all(len(view.jobs) == 1 for view in views.values())
    assert len(kube.seen) == 4  # 500 a page
