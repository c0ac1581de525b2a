"""The scheduler of each pool of the site, for as long as it runs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.jobs import Jobs, NoJobs
from provisioner.capabilities.scheduler import Scheduler
from provisioner.errors import BadInput
from provisioner.pool_settings import PoolSettings
from provisioner.schedulers.factory import scheduler_for
from provisioner.schedulers.settings import NoSchedulerSettings, SchedulerSettings
from provisioner.services.pool_jobs import PoolJobs


@asynccontextmanager
async def pool_schedulers(
    pools: Mapping[str, PoolSettings], schedulers: Mapping[str, SchedulerSettings], clock: Clock
) -> AsyncIterator[Mapping[str, Jobs]]:
    """By the name of the pool; each scheduler is opened once. Raises `BadInput` for one whose files cannot be used."""
    async with AsyncExitStack() as open_ones:
        known: dict[str, Scheduler] = {}
        for name, settings in schedulers.items():
            if isinstance(settings, NoSchedulerSettings):
                continue
            try:
                known[name] = scheduler_for(settings, clock)
            except BadInput as error:
                raise BadInput(f"schedulers.{name}.{error}") from error
            open_ones.push_async_callback(known[name].close)
        yield {name: _jobs(pool, known) for name, pool in pools.items()}


def _jobs(pool: PoolSettings, known: Mapping[str, Scheduler]) -> Jobs:
    scheduler = known.get(pool.scheduler or "")
    return NoJobs() if scheduler is None else PoolJobs(scheduler, pool.policy())
