"""The schedulers that keep the same promises."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from provisioner.capabilities.scheduler import Scheduler
from provisioner.models.identifiers import NodeName
from provisioner.schedulers.factory import scheduler_for
from provisioner.schedulers.kubernetes import Kubernetes
from provisioner.schedulers.kubernetes_api import KubernetesApi
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.none import NoScheduler
from provisioner.schedulers.settings import SlurmrestdSettings
from provisioner.schedulers.slurm import Slurm
from provisioner.schedulers.slurm_scontrol import Commands
from provisioner.schedulers.web import Web
from tests.schedulers.kube_people import KubePeople
from tests.schedulers.kube_server import KubeServer
from tests.schedulers.site import Later, Site
from tests.schedulers.slurm_cluster import Cluster, slurm_cluster
from tests.schedulers.slurm_gateway import Gateway
from tests.schedulers.slurm_people import SlurmPeople

_SLURM = [pytest.mark.slow, pytest.mark.xdist_group("slurm")]
_NODES = (NodeName("n0"), NodeName("n1"))


@pytest.fixture(scope="session")
def one_cluster() -> Iterator[Cluster]:
    """Start Slurm once for this test process."""
    with slurm_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(one_cluster: Cluster) -> Cluster:
    """Return it as at first."""
    one_cluster.clear()
    return one_cluster


@pytest.fixture
def slurm_commands(cluster: Cluster) -> Site:
    """Slurm by its commands."""
    clock = Later()

    def again() -> Scheduler:
        return Slurm(Commands(cluster.conf, timedelta(seconds=60)), clock, NodeNames())

    @contextmanager
    def away() -> Iterator[None]:
        cluster.stop("slurmctld")
        yield
        cluster.start_controller()

    return Site(again(), again, clock, _NODES, SlurmPeople(cluster), away)


@pytest_asyncio.fixture
async def slurmrestd(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Site]:
    """Slurm by a REST API that can change nodes; it cannot put jobs back into the queue."""
    clock, made = Later(), list[Scheduler]()
    token = tmp_path / "token"
    token.write_text(cluster.token())
    gateway = Gateway(cluster)
    gateway.start()

    def again() -> Scheduler:
        settings = SlurmrestdSettings(kind="slurmrestd", url=gateway.url, user="root", token_file=token)
        made.append(scheduler_for(settings, clock))
        return made[-1]

    yield Site(again(), again, clock, _NODES, SlurmPeople(cluster), gateway.outage, requeues=False)
    for one in made:
        await one.close()
    gateway.stop()


@pytest.fixture
def kube() -> Iterator[KubeServer]:
    """Start an API server of Kubernetes with two nodes."""
    server = KubeServer()
    server.start()
    for node in _NODES:
        server.add_node(node)
    yield server
    server.stop()


@pytest_asyncio.fixture
async def kubernetes(kube: KubeServer) -> AsyncIterator[Site]:
    """Kubernetes over HTTP."""
    clock, made = Later(), list[Kubernetes]()

    def again() -> Scheduler:
        headers = lambda: {"Authorization": f"Bearer {kube.token}"}  # noqa: E731
        web = Web("kubernetes", kube.url, tls=None, headers=headers, timeout=timedelta(seconds=30))
        made.append(Kubernetes(KubernetesApi(web), clock, NodeNames()))
        return made[-1]

    yield Site(again(), again, clock, _NODES, KubePeople(kube), kube.outage)
    for one in made:
        await one.close()


@pytest.fixture
def no_scheduler() -> Site:
    """A pool without one."""
    scheduler = NoScheduler()
    return Site(scheduler, lambda: scheduler, Later(), _NODES)


_PEOPLED = ["kubernetes", *(pytest.param(name, marks=_SLURM) for name in ("slurm_commands", "slurmrestd"))]


@pytest.fixture(params=[*_PEOPLED, "no_scheduler"])
def site(request: pytest.FixtureRequest) -> Site:
    """Each of them."""
    found: Site = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=_PEOPLED)
def peopled(request: pytest.FixtureRequest) -> Site:
    """Each that has jobs and people."""
    found: Site = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def has_people(site: Site) -> bool:
    """Say whether there is anybody beside us."""
    return site.people is not None
