"""Operations that leave a trace in a file, for trials of the engine."""

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import BmcUnreachable, NeedsPerson
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.operations.outcome import Operation, Outcome


@dataclass(frozen=True, slots=True)
class Trace:
    """One line per beginning and end of a step, appended so that a killed process loses none."""

    path: Path

    def write(self, line: str) -> None:
        """Append one line at once."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{line}\n".encode())
        os.close(descriptor)

    def lines(self) -> list[str]:
        """Everything so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []

    async def appears(self, start: str) -> None:
        """Wait for the first line that starts so, at most 20 seconds."""
        async with asyncio.timeout(20):
            while not self.count(start):  # noqa: ASYNC110  written by another process, or by this one's own loop
                await asyncio.sleep(0.05)

    def count(self, start: str) -> int:
        """Lines that start so."""
        return sum(line.startswith(start) for line in self.lines())


@dataclass(frozen=True, slots=True)
class Trials:
    """`seconds`: how long each step takes."""

    trace: Trace
    seconds: float = 0.05
    steps: int = 4

    def operations(self) -> dict[str, Operation]:
        """By the names of the lifecycle table, so that the nodes' states fit."""
        return {
            "identify": self.identify,
            "secure": self.wait_for_signal,
            "inventory": self.refuse,
            "assign": self.stumble,
            "update_firmware": self.identify,
        }

    async def identify(self, durable: Durable, _world: World, key: RunKey) -> Outcome:
        """Some steps, one after the other."""
        for number in range(self.steps):
            await durable.step(f"step-{number}", self._work, key, number)
        to = State.CONFIGURING_BIOS if key.operation == "update_firmware" else State.IDENTIFIED
        return Outcome(to, "all steps done")

    async def wait_for_signal(self, durable: Durable, _world: World, key: RunKey) -> Outcome:
        """Until signalled, at most ten seconds."""
        woken = await durable.wait_signal("go", timedelta(seconds=10))
        self.trace.write(f"woken {key.node} {woken}")
        return Outcome(State.SECURED, "signalled" if woken else "nobody signalled")

    async def refuse(self, durable: Durable, _world: World, key: RunKey) -> Outcome:
        """A step that needs a person."""
        await durable.step("refuse", self._refuse, key)
        raise AssertionError("the step always raises")

    async def stumble(self, durable: Durable, _world: World, key: RunKey) -> Outcome:
        """A step that fails twice because of the BMC, then works."""
        await durable.step("stumble", self._stumble, key)
        return Outcome(State.UPDATING_FIRMWARE, "third time lucky")

    async def _work(self, key: RunKey, number: int) -> str:
        self.trace.write(f"begin {key.node} {number} {os.getpid()}")
        await asyncio.sleep(self.seconds)
        self.trace.write(f"end {key.node} {number} {os.getpid()}")
        return f"did {number}"

    async def _refuse(self, key: RunKey) -> None:
        self.trace.write(f"refuse {key.node}")
        told = Instruction(Owner.TECHNICIAN, "rack r1", "push the blue button", "the light is green", "button")
        raise NeedsPerson("it will not", told)

    async def _stumble(self, key: RunKey) -> None:
        self.trace.write(f"stumble {key.node}")
        if self.trace.count(f"stumble {key.node}") < 3:
            raise BmcUnreachable("127.0.0.1:1", "nobody there")
