"""An HTTP server in a thread of its own, on a port that the kernel picks."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

_STOP_SECONDS = 10


class Served:
    """Its state may be read and changed between requests."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """`tls`: HTTPS, by this."""
        self._tls = tls
        self.port = 0
        self.down = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def routes(self) -> list[web.RouteDef]:
        """What it answers."""
        raise NotImplementedError

    async def front(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Every request goes through here."""
        answer: web.StreamResponse = await handler(request)
        return answer

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(30)

    def stop(self) -> None:
        assert self._runner is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)
        self._loop.close()

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Connections are closed without an answer."""
        self.down = True
        yield
        self.down = False

    async def _serve(self) -> None:
        app = web.Application(middlewares=[self._middleware])
        app.add_routes(self.routes())
        self._runner = web.AppRunner(app, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls).start()
        self.port = self._runner.addresses[0][1]

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if self.down:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        return await self.front(request, handler)
