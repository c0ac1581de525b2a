"""slurmrestd of a newer Slurm (v0.0.40) in front of a real Slurm 22.05, whose own slurmrestd cannot change nodes.

It reads by the real slurmrestd, and writes by scontrol and scancel; the shapes of both are those of v0.0.40: states are
lists, features are lists, numbers say whether they are set.
"""

import asyncio
from typing import Any

import aiohttp
from aiohttp import web

from tests.schedulers.served import Served
from tests.schedulers.slurm_cluster import Cluster

_OLD = "/slurm/v0.0.38"
_NEW = "/slurm/v0.0.40"
_DESCRIPTION: dict[str, Any] = {
    "paths": {
        f"{_OLD}/nodes": {"get": {}},
        f"{_OLD}/node/{{node_name}}": {"get": {}},
        f"{_NEW}/nodes": {"get": {}},
        f"{_NEW}/node/{{node_name}}": {"get": {}, "post": {}, "delete": {}},
    }
}


class Gateway(Served):
    """Of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self._cluster = cluster

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/openapi/v3", self._describe),
            web.get(f"{_NEW}/nodes", self._nodes),
            web.get(f"{_NEW}/jobs", self._jobs),
            web.post(f"{_NEW}/node/{{name}}", self._change_node),
            web.post(f"{_NEW}/job/{{id}}", self._change_job),
            web.delete(f"{_NEW}/job/{{id}}", self._end_job),
        ]

    async def _describe(self, _: web.Request) -> web.Response:
        return web.json_response(_DESCRIPTION)

    async def _nodes(self, request: web.Request) -> web.Response:
        status, body = await self._read(request, "nodes")
        for node in body.get("nodes", ()):
            node["state"] = [node["state"].upper(), *node.pop("state_flags")]
            after = [node["next_state_after_reboot"], *node.pop("next_state_after_reboot_flags")]
            node["next_state_after_reboot"] = [one.upper() for one in after]
            for name in ("features", "active_features"):
                node[name] = node[name].split(",") if node[name] else []
        return web.json_response(body, status=status)

    async def _jobs(self, request: web.Request) -> web.Response:
        status, body = await self._read(request, "jobs")
        for job in body.get("jobs", ()):
            job["job_state"] = [job["job_state"]]
            for name in ("time_limit", "end_time", "start_time"):
                job[name] = {"set": job[name] is not None, "infinite": False, "number": job[name] or 0}
        return web.json_response(body, status=status)

    async def _read(self, request: web.Request, what: str) -> tuple[int, dict[str, Any]]:
        headers = {name: request.headers[name] for name in ("X-SLURM-USER-NAME", "X-SLURM-USER-TOKEN")}
        url = f"http://127.0.0.1:{self._cluster.rest_port}{_OLD}/{what}"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
            body: dict[str, Any] = await response.json()
            return response.status, body

    async def _change_node(self, request: web.Request) -> web.Response:
        change = await request.json()
        words = [f"nodename={request.match_info['name']}"]
        words += [f"state={state}" for state in change.get("state", ())]
        words += [f"reason={change['reason']}"] if "reason" in change else []
        for theirs, ours in (("features", "availablefeatures"), ("features_act", "activefeatures")):
            words += [f"{ours}={','.join(change[theirs])}"] if theirs in change else []
        return await self._run("scontrol", "update", *words)

    async def _change_job(self, request: web.Request) -> web.Response:
        change = await request.json()
        job = f"jobid={request.match_info['id']}"
        return await self._run("scontrol", "update", job, f"admincomment={change['admin_comment']}")

    async def _end_job(self, request: web.Request) -> web.Response:
        signal = [f"--signal={request.query['signal']}"] if "signal" in request.query else []
        full = ["--full"] if request.query.get("flags") == "FULL_JOB" else []
        return await self._run("scancel", *signal, *full, request.match_info["id"])

    async def _run(self, *command: str) -> web.Response:
        process = await asyncio.create_subprocess_exec(
            *command, env=self._cluster.environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        _, said = await process.communicate()
        errors = [{"error": said.decode(), "error_number": process.returncode}] if process.returncode else []
        return web.json_response({"meta": {}, "errors": errors, "warnings": []}, status=500 if errors else 200)
