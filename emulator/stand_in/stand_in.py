"""An agent without a process: speaks the node agent's protocol for one host, as tasks in the emulator.

It is slower than nothing and smaller than a process: what it finds is made up, what it says on the wire is not.
"""

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from emulator.clock import Clock
from emulator.faults.active import ActiveFaults
from emulator.netboot.fetch import File
from emulator.persona.persona import Persona
from emulator.stand_in.checks import Finding, Item, Server, check
from emulator.stand_in.plan import Plan, read_plan
from emulator.stand_in.service import Boot, Refused, Service, Unavailable, Wire, jittered

_FIRST_PAUSE_SECONDS = 0.25  # a plan follows soon after a boot; later, nobody is in a hurry
_WORDS = ("server", "token", "image")
_log = structlog.get_logger()


class StandIn:
    """The agent of one host. It holds no root: its digest is all that it reports."""

    __slots__ = ("_booted", "_clock", "_faults", "_persona", "_root", "_task", "_wire")

    def __init__(self, persona: Persona, faults: ActiveFaults, clock: Clock, wire: Wire) -> None:
        """Nothing runs."""
        self._persona = persona
        self._faults = faults
        self._clock = clock
        self._wire = wire
        self._root = ""
        self._booted = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """There is no process."""
        return None

    @property
    def alive(self) -> bool:
        """Whether it runs now."""
        return self._task is not None and not self._task.done()

    def prepare(self, root: File) -> None:
        """Keep the digest."""
        self._root = root.digest
        self._booted = time.monotonic()

    async def live(self, words: Sequence[str], started: Callable[[], None]) -> None:
        """Run until it is killed, or until the service refuses this boot; a command line that lacks words ends it."""
        boot = _read_words(words, self._root)
        if boot is None:
            started()
            return
        self._task = asyncio.create_task(_Run(self, boot).run())
        started()
        try:
            await asyncio.wait([self._task])
        finally:
            self.kill()
            await asyncio.wait([self._task])
        if not self._task.cancelled() and self._task.exception():
            _log.error("stand-in crashed", kind=type(self._task.exception()).__name__)

    def kill(self) -> None:
        """End it at once; what it has not delivered is lost, as with a process."""
        if self._task:
            self._task.cancel()

    def service(self, boot: Boot) -> Service:
        """The service for one life."""
        return Service(self._wire, boot)

    def server(self, boot: Boot, item: Item) -> Server:
        """The server, for one check."""
        chance = random.Random(f"{boot.boot_id} {item.id}")  # noqa: S311  (figures, no secrets)
        return Server(self._persona, self._faults, chance, boot.image)

    def uptime_seconds(self) -> float:
        """Emulated seconds since the host booted."""
        return (time.monotonic() - self._booted) * (self._clock.speed or 1.0)

    def wall_seconds(self, finding: Finding) -> float:
        """How long a check takes: what the plan asks for as it says, what the hardware needs in emulated time."""
        return finding.wall_seconds + self._clock.wall_seconds(finding.work_seconds)


@dataclass(frozen=True, slots=True)
class _Working:
    run: str
    item: str
    began: float
    seconds: float

    def percent(self) -> float:
        return min(99.0, round(100 * (time.monotonic() - self.began) / self.seconds, 1)) if self.seconds else 99.0


class _Run:
    """One life."""

    __slots__ = ("_boot", "_delivery", "_outbox", "_sequence", "_service", "_stand_in", "_working")

    def __init__(self, stand_in: StandIn, boot: Boot) -> None:
        self._stand_in = stand_in
        self._boot = boot
        self._service = stand_in.service(boot)
        self._outbox: deque[dict[str, Any]] = deque()
        self._delivery: asyncio.Task[None] | None = None
        self._working: _Working | None = None
        self._sequence = int(stand_in.uptime_seconds() * 1000)  # rises across lives of the same boot

    async def run(self) -> None:
        with contextlib.suppress(Refused):
            await self._service.registration()
            heart = asyncio.create_task(self._beat())
            try:
                await self._serve()
            finally:
                await _end(heart, self._delivery)

    async def _serve(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            plan = await self._next_plan()
            for item in plan.items:
                self._put(await self._work(plan, item))
            if self._delivery:
                await self._delivery
            pause = min(2 * pause, (await self._service.registration()).heartbeat_seconds)
            await asyncio.sleep(jittered(pause))

    async def _next_plan(self) -> Plan:
        answer = await self._service.call("GET", "/v1/agent/plan")
        if answer.status == 409:
            raise Refused("the plan was refused")
        return read_plan(answer.document) if answer.status == 200 else Plan()

    async def _work(self, plan: Plan, item: Item) -> dict[str, Any]:
        began = datetime.now(UTC)
        finding = check(self._stand_in.server(self._boot, item), item)
        self._working = _Working(plan.run, item.id, time.monotonic(), self._stand_in.wall_seconds(finding))
        try:
            await asyncio.sleep(self._working.seconds)
        finally:
            self._working = None
        return {
            "run": plan.run,
            "attempt": plan.attempt,
            "item": item.id,
            "status": finding.status,
            "started_at": began.isoformat(timespec="milliseconds"),
            "finished_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "metrics": dict(finding.metrics),
            "evidence": finding.evidence,
        }

    def _put(self, result: dict[str, Any]) -> None:
        """Deliver in order, while the next check runs."""
        self._outbox.append(result)
        if self._delivery is None or self._delivery.done():
            self._delivery = asyncio.create_task(self._deliver())

    async def _deliver(self) -> None:
        while self._outbox:
            await self._service.call("POST", "/v1/agent/results", self._outbox[0])
            self._outbox.popleft()  # also when it was refused: the plan says what comes next

    async def _beat(self) -> None:
        with contextlib.suppress(Refused):  # the main task meets the same refusal
            while True:
                with contextlib.suppress(Unavailable):
                    await self._service.call_once("POST", "/v1/agent/heartbeats", self._heartbeat())
                await asyncio.sleep(jittered((await self._service.registration()).heartbeat_seconds))

    def _heartbeat(self) -> dict[str, Any]:
        self._sequence += 1
        working = self._working
        return {
            "boot_id": self._boot.boot_id,
            "sequence": self._sequence,
            "run": working.run if working else None,
            "item": working.item if working else None,
            "percent": working.percent() if working else None,
            "uptime_seconds": round(self._stand_in.uptime_seconds(), 3),
        }


def _read_words(words: Sequence[str], root: str) -> Boot | None:
    found = dict(
        word.removeprefix("firstlight.").split("=", 1)
        for word in words
        if word.startswith("firstlight.") and "=" in word
    )
    server = found.get("server", "")
    if not all(found.get(word) for word in _WORDS) or not server.startswith(("http://", "https://")):
        return None
    return Boot(server.rstrip("/"), found["token"], found["image"], found.get("boot_id", ""), root)


async def _end(*tasks: "asyncio.Task[None] | None") -> None:
    running = [task for task in tasks if task]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
