"""A web server for packages, which notes who comes, as the product's own does."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from provisioner.pulls import Pull, Pulls


@asynccontextmanager
async def served(folder: Path, digests: Mapping[Path, str], pulls: Pulls) -> AsyncIterator[str]:
    """The URL of the folder. `digests`: SHA-256 by file, in hex."""

    async def file(request: web.Request) -> web.StreamResponse:
        path = folder / request.match_info["path"]
        content, answer, sent = path.read_bytes(), web.StreamResponse(), 0
        answer.content_length = len(content)

        def note() -> None:
            at = datetime.now(UTC)
            whole = sent == len(content)
            pulls.note(Pull(request.remote or "", f"sha256:{digests[path]}", at, sent, finished=whole))

        await answer.prepare(request)
        note()
        try:
            for start in range(0, len(content), 2**16):
                block = content[start : start + 2**16]
                await answer.write(block)
                sent += len(block)
        finally:
            note()
        return answer

    app = web.Application()
    app.router.add_get("/{path:.+}", file)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
