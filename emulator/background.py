"""Work that goes on by itself. What it dies of is logged at once: nobody waits for it who could be told."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

import structlog

_log = structlog.get_logger()


def run_in_background(work: Coroutine[Any, Any, None], what: str) -> asyncio.Task[None]:
    """Start `work`; `what` names it in the log. Whoever calls keeps the task, else it may be forgotten half done."""
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(partial(_tell_crash, what))
    return task


def _tell_crash(what: str, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception():
        _log.error("background work crashed", work=what, exc_info=task.exception())
