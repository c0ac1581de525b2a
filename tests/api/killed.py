"""A worker that is killed while it answers one request.

`python -m tests.api.killed DATABASE KEY_FILE FOLDER MOMENT METHOD PATH KEY BODY`, with the token on standard input.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from api.app import create_app
from provisioner.capabilities.request_claims import Claim, ClaimOrder, KeptAnswer, RequestClaims
from provisioner.pulse import Pulse
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import open_store
from tests.api.asgi import ask
from tests.api.service import RecordedRuns, service_on
from tests.api.small_bmcs import SmallBmcs

MOMENTS = ("claimed", "changed", "kept")


class DeadlyClaims:
    """Real claims, whose leases are over at once; the process dies at the moment."""

    def __init__(self, real: RequestClaims, moment: str) -> None:
        self._real = real
        self._moment = moment

    async def claim(self, order: ClaimOrder, until: datetime) -> Claim | KeptAnswer:  # noqa: ARG002  over at once
        claim = await self._real.claim(order, datetime.now(UTC))
        self._die_at("claimed")
        return claim

    async def renew(self, request: str, until: datetime) -> None:
        await self._real.renew(request, until)

    async def keep(self, request: str, answer: KeptAnswer) -> None:
        self._die_at("changed")
        await self._real.keep(request, answer)
        self._die_at("kept")

    async def release(self, request: str) -> None:
        await self._real.release(request)

    def _die_at(self, moment: str) -> None:
        if self._moment == moment:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(database: str, key_file: str, folder: str, moment: str, *request: str) -> None:
    method, path, key, body = request
    store = open_store(database, open_cipher(Path(key_file)))
    service, _ = service_on(store, Path(folder), runs=RecordedRuns(), bmcs=SmallBmcs(), pulse=Pulse())
    app = create_app(replace(service, claims=DeadlyClaims(store.claims, moment)))
    headers = [
        ("Authorization", f"Bearer {sys.stdin.readline().strip()}"),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", key),
    ]
    answer = await ask(app, method, path, headers, body.encode())
    raise AssertionError(f"still alive: {answer}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
