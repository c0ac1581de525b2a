"""The schedulers that keep the same promises."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from provisioner.capabilities.scheduler import Scheduler
from provisioner.models.identifiers import NodeName
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.none import NoScheduler
from provisioner.schedulers.slurm import Slurm
from provisioner.schedulers.slurm_scontrol import Commands
from tests.schedulers.site import Later, Site
from tests.schedulers.slurm_cluster import Cluster, slurm_cluster
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


@pytest.fixture
def no_scheduler() -> Site:
    """A pool without one."""
    scheduler = NoScheduler()
    return Site(scheduler, lambda: scheduler, Later(), _NODES)


_PEOPLED = [pytest.param("slurm_commands", marks=_SLURM)]


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
