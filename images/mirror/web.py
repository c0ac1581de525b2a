"""Requests to mirrors, the way that apt on this host would make them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp

from images.mirror.apt_settings import AptSettings, read_apt_settings
from images.mirror.patience import Patience


class Web:
    """A session with apt's proxies and passwords; without a proxy of apt's, that of the environment (http_proxy)."""

    def __init__(self, session: aiohttp.ClientSession, settings: AptSettings) -> None:
        """Neither is asked before the first request."""
        self._session, self._settings = session, settings

    def get(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Return the request, to be entered."""
        authorization = self._settings.authorization(url)
        login = {"Authorization": authorization} if authorization else {}
        return self._session.get(url, headers={**(headers or {}), **login}, proxy=self._settings.proxy(url))


@asynccontextmanager
async def open_web(patience: Patience, settings: AptSettings | None = None) -> AsyncIterator[Web]:
    """Open a session that is as patient; bodies come as they were sent.

    `settings` instead of apt's: then the environment has no say either, as for servers of the site.
    """
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=patience.connect.total_seconds(), sock_read=patience.silence.total_seconds()
    )
    connector = aiohttp.TCPConnector(limit_per_host=patience.at_once)
    headers = {"Accept-Encoding": "identity", "User-Agent": "firstlight"}
    async with aiohttp.ClientSession(
        timeout=timeout, connector=connector, headers=headers, auto_decompress=False, trust_env=settings is None
    ) as session:
        yield Web(session, read_apt_settings() if settings is None else settings)
