"""One log line and one measurement per request; the last place where an error is caught.

The path is not logged, as that of the boot endpoint is a secret: the route and the node are.
"""

import time
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import IN_THE_LOG, UNEXPECTED, instance_of, respond

_log = structlog.get_logger(__name__)

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_TALKATIVE = (
    "/v1/agent/",
    "/v1/artefacts/",
    "/boot/ipxe",
    "/boot/words",
    "/boot/uefi/",
    "/boot/{key}",
    "/healthz",
    "/metrics",
)
"""Routes that are asked all the time, or by a whole hall at once: at debug level, unless something is wrong."""


def latency_histogram(registry: CollectorRegistry) -> Histogram:
    """Seconds until a response is complete, by method, route and status."""
    return Histogram(
        "firstlight_http_request_seconds",
        "Time until a response is complete.",
        ("method", "route", "status"),
        registry=registry,
        buckets=_BUCKETS,
    )


class AccessLog:
    """The outermost of our middleware."""

    def __init__(self, app: ASGIApp, latency: Histogram) -> None:
        """Stand before `app`."""
        self._app = app
        self._latency = latency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            _log.error("request_failed", instance=instance_of(scope), route=_route(scope), exc_info=True)
            if status:
                raise  # too late for an answer: the connection is closed in the middle of it
            problem = respond(scope, UNEXPECTED, IN_THE_LOG)
            await problem(scope, receive, watched)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route(scope)
        self._latency.labels(_method(scope), route, str(status)).observe(seconds)
        say = _log.debug if status < 400 and route.startswith(_TALKATIVE) else _log.info
        say(
            "request_answered",
            method=_method(scope),
            route=route,
            status=status,
            ms=round(1000 * seconds, 1),
            **_who(scope),
        )


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "none"))


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in {"GET", "HEAD", "POST", "PUT", "DELETE"} else "other"


def _who(scope: Scope) -> dict[str, Any]:
    """The fields that this request has."""
    fields = {
        "node": scope.get("path_params", {}).get("name"),
        "holder": scope.get("firstlight.holder"),
        "instance": scope.get("firstlight.instance"),
    }
    return {name: value for name, value in fields.items() if value is not None}
