"""Slurm by its own commands: sinfo and squeue to read, scontrol and scancel to act."""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson

from provisioner.errors import SchedulerError
from provisioner.schedulers.slurm_reading import SlurmJob, SlurmNode, read_jobs, read_nodes

_AT_ONCE = 8
"""Commands of this process at one time: slurmctld serves the whole site."""

_SAYS = 500
Read = TypeVar("Read")


class Commands:
    """A `SlurmControl`."""

    name = "slurm"

    def __init__(self, conf: Path | None, timeout: timedelta) -> None:
        """`conf`: slurm.conf, where it is not in its usual place. `timeout`: of each command."""
        self._conf, self._timeout = conf, timeout
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def nodes(self) -> Mapping[str, SlurmNode]:
        """All of them, in one command."""
        return await self._read(read_nodes, await self._run("sinfo", "--json"))

    async def jobs(self) -> Sequence[SlurmJob]:
        """All of them, in one command."""
        return await self._read(read_jobs, await self._run("squeue", "--json", "--all"))

    async def set_state(self, node: str, state: str, reason: str | None) -> None:
        """As of `SlurmControl`."""
        why = [] if reason is None else [f"reason={reason}"]
        await self._run("scontrol", "update", f"nodename={node}", f"state={state}", *why)

    async def set_reason(self, node: str, reason: str) -> None:
        """As of `SlurmControl`."""
        await self._run("scontrol", "update", f"nodename={node}", f"reason={reason}")

    async def set_features(self, node: str, features: Sequence[str]) -> None:
        """As of `SlurmControl`."""
        words = ",".join(features)
        await self._run(
            "scontrol", "update", f"nodename={node}", f"availablefeatures={words}", f"activefeatures={words}"
        )

    async def cancel_reboot(self, node: str) -> None:
        """As of `SlurmControl`."""
        await self._run("scontrol", "cancel_reboot", node)

    async def signal(self, job: str, signal: str) -> None:
        """Batch script and steps."""
        await self._run("scancel", f"--signal={signal}", "--full", job)

    async def comment(self, job: str, text: str) -> None:
        """As of `SlurmControl`."""
        await self._run("scontrol", "update", f"jobid={job}", f"admincomment={text}")

    async def requeue(self, job: str) -> None:
        """As of `SlurmControl`."""
        await self._run("scontrol", "requeue", job)

    async def cancel(self, job: str) -> None:
        """As of `SlurmControl`."""
        await self._run("scancel", job)

    async def close(self) -> None:
        """Nothing stays open."""

    async def _read(self, read: Callable[[Mapping[str, Any]], Read], said: bytes) -> Read:
        """In a thread: 12,500 nodes and 20,000 jobs are 44 MB, which take a second."""
        try:
            return await asyncio.to_thread(lambda: read(orjson.loads(said)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"its answer cannot be used: {error}" if b'"errors"' in said else f"it answers {said[:120]!r}"
            remedy = "see that slurmctld answers (scontrol ping) and is Slurm 22.05 or newer with its JSON plugin"
            raise SchedulerError(self.name, problem, remedy) from error

    async def _run(self, command: str, *arguments: str) -> bytes:
        """What it writes. Raises `SchedulerError` with Slurm's own words."""
        program = shutil.which(command)
        if program is None:
            raise SchedulerError(self.name, f"{command} is not installed", "install slurm-client on this host")
        async with self._places:
            process = await asyncio.create_subprocess_exec(
                program,
                *arguments,
                env=self._environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            written, said = await self._within_time(process, command)
        if process.returncode:
            words = said.decode("utf-8", "replace").strip()[-_SAYS:]
            remedy = f"see that slurmctld runs and that this user may do it: {command} {' '.join(arguments)}"
            raise SchedulerError(self.name, f"{command} ended with {process.returncode}: {words}", remedy)
        return written

    async def _within_time(self, process: asyncio.subprocess.Process, command: str) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                return await process.communicate()
        except TimeoutError as error:
            problem = f"{command} gave no answer within {self._timeout.total_seconds():g} s"
            raise SchedulerError(self.name, problem, "see that slurmctld answers: scontrol ping") from error
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def _environment(self) -> dict[str, str]:
        """Ours, without what would change Slurm's output."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("SINFO_", "SQUEUE_", "SCANCEL_"))
        }
        return own | {"LC_ALL": "C.UTF-8"} | ({"SLURM_CONF": str(self._conf)} if self._conf else {})
