"""Run one item of the plan in a child process and turn whatever happens into a result."""

import datetime as dt
import json
import sys
from typing import Any

from images.agent.evidence import cap
from images.agent.kernel_log import KernelLog
from images.agent.plan import Item, Plan
from images.agent.supervise import Ended, supervise
from images.agent.vitals import Vitals


def run_item(archive: str, plan: Plan, item: Item, vitals: Vitals) -> dict[str, Any]:
    """Return the result message: pass or fail as the check says, error when it could not say."""
    started = _now()
    reported: dict[str, Any] = {}

    def on_line(line: bytes) -> None:
        message = _message(line)
        if "percent" in message:
            vitals.progress(float(message["percent"]))
        else:
            reported.update(message)

    # -S: a check needs nothing but the standard library, and starts in half the time without looking for more.
    command = [sys.executable, "-I", "-S", archive, "check", item.kind, json.dumps(item.parameters)]
    kernel_log = KernelLog()
    vitals.begin(plan.run, item.id)
    try:
        ended = supervise(command, item.deadline_seconds, on_line)
        delta = kernel_log.delta()
    finally:
        vitals.end()
        kernel_log.close()
    status, reason = judge(item, ended, reported)
    evidence = [reason, str(reported.get("evidence", "")), ended.stderr.strip(), delta]
    return {
        "run": plan.run,
        "attempt": plan.attempt,
        "item": item.id,
        "status": status,
        "started_at": started,
        "finished_at": _now(),
        "metrics": reported.get("metrics", {}),
        "evidence": cap("\n".join(part for part in evidence if part)),
    }


def judge(item: Item, ended: Ended, reported: dict[str, Any]) -> tuple[str, str]:
    """Return the status and, for an error of the frame around the check, the reason. Pure."""
    if ended.stuck:
        return "error", "the check outlived KILL: it waits inside the kernel, suspect a hung driver"
    if ended.overran:
        return "error", f"deadline of {item.deadline_seconds:g} s overrun; the check was ended"
    if ended.exit_code is not None and ended.exit_code < 0:
        hint = " (out of memory?)" if ended.exit_code == -9 else ""
        return "error", f"the check was ended by signal {-ended.exit_code}{hint}"
    if ended.exit_code != 0 or reported.get("status") not in {"pass", "fail", "error"}:
        return "error", f"the check ended with code {ended.exit_code} and without a verdict"
    return str(reported["status"]), ""


def _message(line: bytes) -> dict[str, Any]:
    """Return the child's message; a broken line, such as the last one of a killed child, is an empty one."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
