"""What runs on a simulated node: its firmware's network boot, and the agent in the image."""

import asyncio
from dataclasses import dataclass, field

from provisioner.boot.answer import BootImage
from provisioner.capabilities.runs import Runs
from provisioner.capabilities.world import World
from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import BootTicket, Caller, FailureKind
from provisioner.models.burn_in import CheckResult, Heartbeat, ResultStatus
from provisioner.models.secret import Secret
from provisioner.services import agents, boots
from provisioner.services.agents import AgentPlan, PlanItem
from tests.operations.server import Server

LOAD_SECONDS, RETRY_SECONDS, BEAT_SECONDS, ITEM_SECONDS = 45.0, 60.0, 15.0, 20.0
_METRICS = {"threads": 64.0, "mismatches": 0.0}


@dataclass(slots=True)
class Host:
    """The host of one server; it dies with the power."""

    server: Server
    world: World
    runs: Runs
    _life: asyncio.Task[None] | None = field(default=None)
    _boots: int = 0

    def boot(self) -> None:
        """The self-test is over."""
        self.die()
        self._life = asyncio.ensure_future(self._live())

    def die(self) -> None:
        """The power is gone."""
        if self._life is not None:
            self._life.cancel()

    async def _live(self) -> None:
        enabled, target, uri = self.server.override
        self.server.override = ("Disabled", target, uri)
        if enabled != "Once":
            return  # nothing is installed on it
        while True:
            answer = await self._ask(target, uri)
            if isinstance(answer, BootImage):
                await asyncio.sleep(LOAD_SECONDS)
                await self._start(answer.ticket, is_program=target != "Pxe")
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _start(self, ticket: BootTicket, *, is_program: bool) -> None:
        """The kernel, unless firmware refuses the program; its initrd, which asks for its words; the agent."""
        faults = self.server.faults
        if faults.agent == "refused":
            return
        if is_program:
            caller = Caller(uuid=self.server.uuid, serial=self.server.serial)
            await boots.answer_initrd(self.world, caller, ticket.image)
        if faults.initrd and self._boots < faults.boots_ill:
            await self._give_up(ticket, *faults.initrd)
        elif faults.agent != "never":
            await self._agent(ticket)

    async def _ask(self, target: str, uri: str | None) -> object:
        if target == "Pxe" or uri is None:
            caller = Caller(uuid=self.server.uuid, serial=self.server.serial)
            answer = await boots.answer_identity(self.world, caller)
        else:
            answer = await boots.answer_key(self.world, Secret(uri.split("/")[-2]))
        if isinstance(answer, BootImage):
            await boots.served(self.world, answer, program=target != "Pxe")
        return answer

    async def _give_up(self, ticket: BootTicket, kind: str, detail: str) -> None:
        self._boots += 1
        try:
            await boots.report_failure(self.world, self.runs, ticket.token, FailureKind(kind), detail)
        except (Conflict, NotFound):
            return
        self.server.lose_power()

    async def _agent(self, ticket: BootTicket) -> None:
        image = "sha256:another" if self.server.faults.agent == "wrong" else ticket.image
        boot_id = f"{self.server.name}-{self.server.host_starts}"
        try:
            session = await agents.register(self.world, self.runs, ticket.token, boot_id, image, ticket.root)
            if self.server.faults.agent != "silent":
                await self._work(session, boot_id)
        except (Conflict, NotFound):
            return  # a newer boot has taken its place

    async def _work(self, session: agents.Session, boot_id: str) -> None:
        sequence = 0
        while True:
            sequence += 1
            ticket = await agents.admit(self.world, session.token)
            beat = Heartbeat(ticket.node, self.world.clock.now(), boot_id, sequence, None, None)
            await agents.beat(self.world, ticket, beat)
            plan = await agents.next_plan(self.world, ticket)
            if plan is None:
                await asyncio.sleep(BEAT_SECONDS)
            else:
                await self._check(ticket, plan, plan.items[0])

    async def _check(self, ticket: BootTicket, plan: AgentPlan, item: PlanItem) -> None:
        started = self.world.clock.now()
        await asyncio.sleep(ITEM_SECONDS)
        release = self.server.release
        floors = next(one.floors for one in release.burn_in.items if one.id == item.id)
        status = ResultStatus.FAIL if item.id == self.server.faults.failing_item else ResultStatus.PASS
        metrics = {**_METRICS, **{name: 10.0 * float(floor) for name, floor in floors.items()}}
        now = self.world.clock.now()
        result = CheckResult(plan.run, plan.attempt, item.id, status, started, now, metrics, "DIMM A1: broken\n")
        await agents.record(self.world, self.runs, ticket, result)
