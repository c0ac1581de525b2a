"""Slurm by slurmrestd: the newest version of its API that the daemon offers, with a token (JWT)."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from provisioner.errors import SchedulerError
from provisioner.schedulers.slurm_reading import SlurmJob, SlurmNode, read_jobs, read_nodes
from provisioner.schedulers.web import Reply, Web

_NODES = re.compile(r"/slurm/v0\.0\.(\d+)/nodes/?", re.ASCII)
_SIGNALS_ALL = 40
"""From this version on a signal can be meant for the batch script as well."""
_RIGHTS = "see that the token's user is an operator or administrator of Slurm, and that the token has not expired"


class Rest:
    """A `SlurmControl`. Versions up to v0.0.38 (Slurm 22.05) can read, and cannot change nodes."""

    name = "slurmrestd"

    def __init__(self, web: Web) -> None:
        """`web`: sends the headers X-SLURM-USER-NAME and X-SLURM-USER-TOKEN with each request."""
        self._web = web
        self._version: int | None = None
        self._changes_nodes = False

    async def nodes(self) -> Mapping[str, SlurmNode]:
        """All of them: its answer for one node does not tell a wrong name from a failure."""
        body = await self._get("nodes")
        try:
            return await asyncio.to_thread(read_nodes, body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse("its nodes", error)

    async def jobs(self) -> Sequence[SlurmJob]:
        """All of them."""
        body = await self._get("jobs")
        try:
            return await asyncio.to_thread(read_jobs, body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse("its jobs", error)

    async def set_state(self, node: str, state: str, reason: str | None) -> None:
        """As of `SlurmControl`."""
        await self._change_node(node, {"state": [state], **({} if reason is None else {"reason": reason})})

    async def set_reason(self, node: str, reason: str) -> None:
        """As of `SlurmControl`."""
        await self._change_node(node, {"reason": reason})

    async def set_features(self, node: str, features: Sequence[str]) -> None:
        """As of `SlurmControl`."""
        await self._change_node(node, {"features": list(features), "features_act": list(features)})

    async def cancel_reboot(self, node: str) -> None:
        """There is no call for it. Raises `SchedulerError`."""
        problem = f"{node} is about to be rebooted by Slurm, which cannot be cancelled over REST"
        raise SchedulerError(self.name, problem, f"scontrol cancel_reboot {node}, or wait until it is up again")

    async def signal(self, job: str, signal: str) -> None:
        """As of `SlurmControl`."""
        flags = {"flags": "FULL_JOB"} if await self._newest() >= _SIGNALS_ALL else {}
        await self._call("DELETE", f"job/{job}", signal=signal, **flags)

    async def comment(self, job: str, text: str) -> None:
        """As of `SlurmControl`."""
        await self._call("POST", f"job/{job}", {"admin_comment": text})

    async def requeue(self, job: str) -> None:
        """There is no call for it. Raises `SchedulerError`."""
        problem = f"job {job} cannot be put back into the queue over REST"
        raise SchedulerError(self.name, problem, f"scontrol requeue {job}, or give the pool kind: slurm")

    async def cancel(self, job: str) -> None:
        """As of `SlurmControl`."""
        await self._call("DELETE", f"job/{job}")

    async def close(self) -> None:
        """Let go of connections."""
        await self._web.close()

    async def _change_node(self, node: str, change: Mapping[str, Any]) -> None:
        version = await self._newest()
        if not self._changes_nodes:
            problem = f"{self._web.url} offers v0.0.{version}, which cannot change nodes"
            raise SchedulerError(self.name, problem, "use Slurm 23.02 or newer (v0.0.39), or kind: slurm")
        await self._call("POST", f"node/{node}", change)

    async def _get(self, what: str) -> Mapping[str, Any]:
        return (await self._call("GET", what)).body

    async def _call(self, method: str, what: str, body: Any = None, **query: str) -> Reply:
        path = f"/slurm/v0.0.{await self._newest()}/{what}"
        reply = await self._web.call(method, path, body, **query)
        if not reply.ok or reply.body.get("errors"):
            if reply.status == 404:
                self._version = None  # another version may be there since
            raise self._web.refused(f"{method} {what}", reply, _RIGHTS)
        return reply

    async def _newest(self) -> int:
        """Of the API's versions that the daemon offers, asked for once."""
        if self._version is None:
            reply = await self._web.call("GET", "/openapi/v3")
            if not reply.ok:
                raise self._web.refused("its description", reply, _RIGHTS)
            paths = reply.body.get("paths") or {}
            versions = [int(found[1]) for path in paths if (found := _NODES.fullmatch(path))]
            if not versions:
                raise SchedulerError(self.name, f"{self._web.url} offers no API of Slurm", "is this slurmrestd?")
            self._version = max(versions)
            self._changes_nodes = "post" in paths.get(f"/slurm/v0.0.{self._version}/node/{{node_name}}", {})
        return self._version

    def _refuse(self, what: str, error: Exception) -> NoReturn:
        problem = f"{self._web.url}: {what} cannot be used: {error!r}"
        raise SchedulerError(self.name, problem, "see that slurmctld answers (scontrol ping)") from error
