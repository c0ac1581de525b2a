"""The child process: runs one check, writes its progress and its verdict as JSON lines on stdout."""

import json
import os
import signal
import sys
import time

from images.agent.checks.verdict import Check, Verdict

KINDS = ("cpu", "memory", "disk")
_PERIOD_SECONDS = 0.2


def main(arguments: list[str]) -> int:
    """Run `<kind> <parameters as JSON>`; the verdict is the last line."""
    kind, parameters = arguments
    if kind in KINDS:
        verdict = _run(load_check(kind), json.loads(parameters))
    else:
        verdict = Verdict("error", {}, f"this agent has no check of kind {kind!r}; it has {', '.join(KINDS)}")
    _write(verdict._asdict())
    return 0


def load_check(kind: str) -> Check:
    """Import one check only: the others would double the time to start, and hundreds may start at once."""
    if kind == "cpu":
        from images.agent.checks.cpu import check_cpu

        return check_cpu
    if kind == "memory":
        from images.agent.checks.memory import check_memory

        return check_memory
    from images.agent.checks.disk import check_disk

    return check_disk


def _run(check: Check, parameters: dict[str, float]) -> Verdict:
    try:
        return check(parameters, _Progress())
    except KeyError as error:
        return Verdict("error", {}, f"parameter {error} is missing")
    except (OSError, MemoryError) as error:
        return Verdict("error", {}, f"{type(error).__name__}: {error}")


class _Progress:
    """Writes the progress a few times a second, and notices by it when the agent is gone."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, percent: float) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PERIOD_SECONDS
            _write({"percent": round(percent, 1)})


def _write(message: dict[str, object]) -> None:
    try:
        sys.stdout.write(json.dumps(message, allow_nan=False) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody is left to report to: end the workers of this check as well.
        os.killpg(0, signal.SIGKILL)
