"""The daemon: a running site, its API, and the loops that keep it going."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any

import structlog
import uvicorn
from uvicorn.importer import import_from_string

from provisioner.build_loop import Builder, keep_building
from provisioner.campaign_loop import keep_campaigns
from provisioner.capabilities.jobs import Jobs
from provisioner.capabilities.service import Service
from provisioner.discovery_loop import keep_looking
from provisioner.drift_loop import keep_watching
from provisioner.errors import BadInput, LeaseLost
from provisioner.network_boot.child import keep_answering
from provisioner.network_boot.follow import LeaseWatch
from provisioner.network_boot.readiness import lacks, occupied, refuse_lacks
from provisioner.network_boot.settings import DhcpMode
from provisioner.pool_schedulers import pool_schedulers
from provisioner.promotion_loop import keep_counting, keep_promotions
from provisioner.rollout_loop import keep_rollouts
from provisioner.services.drift import Rate
from provisioner.services.following import Follower
from provisioner.services.rolling import Controller
from provisioner.settings import Environment
from provisioner.upkeep import bring_packages, upkeep
from provisioner.webhook_loop import Sender, keep_sending
from provisioner.wiring import Checked, Running, dhcp_place, running

_log = structlog.get_logger(__name__)

_APP, _END_STREAMS = "api.app:create_app", "api.app:end_streams"
"""Loaded by name, as any ASGI server does: the API stands on the provisioner, never the other way round."""

_CAMPAIGNS_EVERY = timedelta(seconds=5)
_SOAK_EVERY = timedelta(minutes=1)

_BUILDS_EVERY = 2.0
_WEBHOOKS_EVERY = 1.0
"""Real seconds."""

_LEASE_LOST = 75  # EX_TEMPFAIL: a supervisor starts us again


class Server(uvicorn.Server):
    """uvicorn, with the signals left to us: its own way ends the process before anything is tidied up."""

    def capture_signals(self) -> Any:
        """Nothing is captured."""
        return nullcontext()

    def stop(self) -> None:
        """Answer what is in hand, end the event streams, then end."""
        self.should_exit = True
        import_from_string(_END_STREAMS)(self.config.app)


Beside = Callable[[Running, Server], Coroutine[Any, Any, None]]


async def serve(checked: Checked, environment: Environment, beside: Beside | None = None) -> None:
    """Until SIGINT or SIGTERM. `beside` runs as long as the server and may stop it. Raises `BadInput`."""
    refuse_lacks((*lacks(checked.site.network_boot, checked.site.url), *occupied(checked.site.network_boot)))
    with _listener(checked) as listener:
        async with running(checked, environment) as live, _schedulers(live) as jobs:
            server = Server(_config(live))
            loops = [live.awake.watch(), live.reconciler.run(), upkeep(live.store, live.engine, live.slots)]
            full = live.site.network_boot.dhcp is DhcpMode.FULL
            loops += [keep_looking(live.site.discovery, live.service, leases=full)]
            loops += _fleet(live, jobs)
            loops += [bring_packages(live.service.world.artefacts, live.missing_packages)]
            loops += _dhcp(live)
            loops += [keep_building(live.service.world.clock, live.service.operations, _builder(live), _BUILDS_EVERY)]
            loops += [keep_sending(_sender(live), _WEBHOOKS_EVERY)]
            loops += [_guard(live)] if live.slot else []
            loops += [beside(live, server)] if beside else []
            with _stopped_by_signals(server):
                await _serve(server, listener, loops)


def _fleet(live: Running, jobs: Mapping[str, Jobs]) -> list[Coroutine[Any, Any, None]]:
    """What concerns many nodes at once."""
    service, clock = live.service, live.service.world.clock
    period = max(1.0, clock.wall(_CAMPAIGNS_EVERY))
    return [
        keep_campaigns(service.world, service.campaigns, period),
        keep_promotions(service.world, service.promotion, period),
        keep_counting(service.world, service.promotion, max(1.0, clock.wall(_SOAK_EVERY))),
        keep_rollouts(clock, service.rollouts, _controller(service, jobs), _follower(service), period),
        keep_watching(service.world, service.drift, Rate(live.site.drift.every, _passes(live.site.drift.every))),
    ]


def _schedulers(live: Running) -> AbstractAsyncContextManager[Mapping[str, Jobs]]:
    return pool_schedulers(live.service.pools, live.site.schedulers, live.service.world.clock)


def _controller(service: Service, jobs: Mapping[str, Jobs]) -> Controller:
    return Controller(service.world, service.rollouts, service.turns, jobs)


def _follower(service: Service) -> Follower:
    return Follower(service.world, service.rollouts, service.channels, service.pools)


def _sender(live: Running) -> Sender:
    world, webhooks = live.service.world, live.service.webhooks
    return Sender(live.site.name, world.clock, world.events, webhooks, link_local=live.site.webhooks.link_local)


def _builder(live: Running) -> Builder:
    """Builds go by the same files as this daemon does."""
    profiles = ("--profiles", str(live.site.profiles.absolute())) if live.site.profiles else ()
    config = ("--config", str(live.file.absolute())) if live.file else ()
    place = live.site.data_dir.absolute()
    return Builder(place, ("--data-dir", str(place), *profiles, *config))


def _passes(every: timedelta) -> timedelta:
    """Often enough that no pass has many BMCs to ask, and no oftener than each second."""
    return max(timedelta(seconds=1), min(timedelta(minutes=1), every / 10))


def _dhcp(live: Running) -> list[Coroutine[Any, Any, None]]:
    """Our own DHCP server, and who reads what it gives out."""
    boot, world = live.site.network_boot, live.service.world
    if boot.dhcp is DhcpMode.EXTERNAL:
        return []
    place = dhcp_place(live.site)
    port = int(live.site.discovery.port)
    watch = LeaseWatch(place.folder, world.hosts, live.service.found, world.bmcs, port, world.clock.now)
    return [keep_answering(boot, place, on_line=watch.hear), watch.run()]


async def _serve(server: Server, listener: socket.socket, loops: list[Coroutine[Any, Any, None]]) -> None:
    """The loops end with the server, and a loop that fails ends the server."""
    tasks = [asyncio.create_task(loop) for loop in loops]
    for task in tasks:
        task.add_done_callback(lambda ended: None if ended.cancelled() or not ended.exception() else server.stop())
    await server.serve([listener])
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


async def _guard(live: Running) -> None:
    assert live.slot is not None, "only called with a slot"  # noqa: S101
    try:
        await live.slot.guard(live.engine.adopt)
    except LeaseLost as error:
        _log.error("slot_lost", reason=str(error))
        os._exit(_LEASE_LOST)  # at once: another worker may be acting on our nodes already


def _config(live: Running) -> uvicorn.Config:
    return uvicorn.Config(
        import_from_string(_APP)(live.service),
        access_log=False,  # paths of the boot endpoint are secrets
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=3,
        server_header=False,
    )


@contextmanager
def _stopped_by_signals(server: Server) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextmanager
def _listener(checked: Checked) -> Iterator[socket.socket]:
    where = checked.site.listen
    with socket.socket(socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((where.host, int(where.port)))
        except OSError as error:
            raise BadInput(
                f"listen: {where.host}:{where.port} cannot be used ({error.strerror}); stop what listens there or "
                "choose another port"
            ) from error
        yield listener
