"""A BMC made of JSON documents: reads, sessions, and $expand that is honest or not."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import encode_basic_auth, web

from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.bmc import RedfishBmc
from provisioner.upload_limit import UploadLimit
from tests.redfish.site import site_of

MOCKUPS = Path(__file__).parents[3] / "shared" / "mockups"
CREDENTIALS = Credentials("admin", Secret("correct-horse-1"))
Documents = dict[str, Any]
Expander = Callable[[Documents, "TreeBmc"], Documents]


def recorded(machine: str) -> Documents:
    """The documents of one recorded machine; skips where the recordings are not there."""
    folder = MOCKUPS / machine
    if not folder.is_dir():
        pytest.skip(f"recordings of real BMCs are not part of the repository: no {folder}")
    return {
        folded("/" + file.parent.relative_to(folder).as_posix()): orjson.loads(file.read_bytes())
        for file in folder.rglob("index.json")
    }


def folded(path: str) -> str:
    """Real BMCs do not care for case and trailing slashes, or their links would lead nowhere."""
    return path.split("?")[0].rstrip("/").lower()


class TreeBmc:
    """Answers GETs from `documents`; keeps count of what it was asked."""

    def __init__(self, documents: Documents, expander: Expander | None = None) -> None:
        """`expander` makes an expanded collection out of a plain one; None: such queries get 501."""
        self.documents = documents
        self.expander = expander
        self.requests: Counter[str] = Counter()
        self.sessions: dict[str, str] = {}
        self.password = CREDENTIALS.password.reveal()
        self.bodies: list[tuple[str, Any]] = []
        self.responses: dict[str, Callable[[], web.Response]] = {}
        self.in_flight = self.most_in_flight = 0
        self.delay = 0.0
        self.acted_on = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request."""
        self.requests[f"{request.method} {request.path_qs}"] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if "/Actions/" in request.path:
                self.acted_on.set()
            await asyncio.sleep(self.delay)
            return await self._answer(request)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = folded(request.path)
        key = f"{request.method} {path}"
        if key in self.responses:
            return self.responses[key]()
        if request.method == "POST" and path.endswith("/sessionservice/sessions"):
            return await self._log_in(request)
        if path != "/redfish/v1" and not self._knows(request):
            return web.json_response({"error": {"message": "no valid session"}}, status=401)
        if request.method == "DELETE":
            self.sessions = {token: uri for token, uri in self.sessions.items() if folded(uri) != path}
            return web.Response(status=204)
        if request.method != "GET":
            self.bodies.append((key, await request.json()))
            return web.Response(status=204)
        return self._read(path, "$expand" in request.query_string)

    def _knows(self, request: web.Request) -> bool:
        if request.headers.get("X-Auth-Token") in self.sessions:
            return True
        return request.headers.get("Authorization") == encode_basic_auth("admin", self.password)

    def _read(self, path: str, expand: bool) -> web.Response:
        document = self.documents.get(path)
        if document is None:
            return web.json_response({"error": {"message": f"{path} is not here"}}, status=404)
        if expand and self.expander is None:
            return web.json_response({"error": {"message": "QueryNotSupported"}}, status=501)
        if expand and self.expander:
            document = self.expander(document, self)
        return web.Response(body=orjson.dumps(document), content_type="application/json", headers={"ETag": '"1"'})

    async def _log_in(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["Password"] != self.password:
            return web.json_response({"error": {"message": f"wrong password {body['Password']}"}}, status=401)
        token = f"token-{sum(self.requests.values())}"
        self.sessions[token] = f"/redfish/v1/SessionService/Sessions/{token}"
        headers = {"X-Auth-Token": token, "Location": self.sessions[token]}
        return web.json_response({}, status=201, headers=headers)

    @property
    def reads(self) -> int:
        """GETs, without the root that every login reads first."""
        return sum(count for what, count in self.requests.items() if what.startswith("GET "))


def honest(collection: Documents, bmc: TreeBmc) -> Documents:
    """Members in full, as DSP0266 says."""
    members = [bmc.documents.get(folded(member["@odata.id"]), member) for member in collection.get("Members", [])]
    return {**collection, "Members": members}


@asynccontextmanager
async def serving(bmc: TreeBmc) -> AsyncIterator[BmcAddress]:
    """The BMC at an address of 127/8, over plain HTTP."""
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", bmc.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield BmcAddress(str(host), int(port))
    finally:
        await runner.cleanup()


@asynccontextmanager
async def opened(bmc: TreeBmc, *, uploads: UploadLimit | None = None) -> AsyncIterator[RedfishBmc]:
    """The BMC, logged in."""
    async with serving(bmc) as address, site_of(uploads=uploads) as site, site.bmcs.open(address, CREDENTIALS) as one:
        yield one
