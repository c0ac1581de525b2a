"""The HTTP API of one running site."""

import asyncio

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from prometheus_client import CollectorRegistry
from starlette.middleware import Middleware

from api import once, problems
from api.access_log import AccessLog, latency_histogram
from api.limits import BodyLimit, Downloads
from api.openapi import describe
from api.rate_limit import Budgets, Rate
from api.routes import (
    agent,
    artefacts,
    audit,
    boot,
    builds,
    campaigns,
    channels,
    discoveries,
    drift,
    events,
    firmware,
    health,
    images,
    metrics,
    node_actions,
    node_firmware,
    nodes,
    openapi,
    operations,
    pools,
    profiles,
    promotions,
    releases,
    rollouts,
    tokens,
    webhooks,
)
from provisioner.capabilities.service import Service

ROUTERS = (
    boot.router,
    agent.router,
    artefacts.router,
    nodes.router,
    node_actions.router,
    node_firmware.router,
    discoveries.router,
    campaigns.router,
    drift.router,
    rollouts.router,
    pools.router,
    images.router,
    releases.router,
    promotions.router,
    profiles.router,
    channels.router,
    audit.router,
    tokens.router,
    builds.router,
    operations.router,
    webhooks.router,
    firmware.router,
    events.router,
    health.router,
    metrics.router,
    openapi.router,
)

_QUIET = TelemetryConfig(tracing=False, metrics=False, logs=False, operation_spans=False)


def create_app(service: Service) -> FastAPI:
    """Call `end_streams(app)` when the server begins to stop."""
    app = bare_app()
    app.state.service = service
    app.state.downloads = Downloads(service.downloads)
    app.state.budgets = Budgets.of(Rate(service.requests_per_second, 10 * service.requests_per_second))
    return app


def bare_app() -> FastAPI:
    """Routes and middleware without a site behind them; enough to be described."""
    registry = CollectorRegistry()
    app = FastAPI(
        title="Firstlight",
        version="1",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_QUIET,
        middleware=[
            Middleware(AccessLog, latency=latency_histogram(registry)),
            Middleware(BodyLimit),
            Middleware(once.KeepAnswers),
        ],
    )
    app.state.registry = registry
    app.state.stopping = asyncio.Event()
    app.state.event_count = metrics.EventCount()
    problems.install(app)
    once.install(app)
    for router in ROUTERS:
        app.include_router(router)
    describe(app)
    return app


def end_streams(app: FastAPI) -> None:
    """Event streams have no end of their own: without this, a stopping server waits for them."""
    app.state.stopping.set()
