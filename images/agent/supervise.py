"""One child process in a process group of its own, with a deadline."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from typing import NamedTuple

GRACE_SECONDS = 2.0
_REAP_SECONDS = 5.0
_TICK_SECONDS = 0.25
_STDERR_LIMIT_BYTES = 64 * 1024
_LINE_LIMIT_BYTES = 256 * 1024


class Ended(NamedTuple):
    """How the child ended. `stuck`: it outlived KILL, so it waits inside the kernel (a driver hang)."""

    exit_code: int | None
    overran: bool
    stuck: bool
    stderr: str


def supervise(
    command: list[str], deadline_seconds: float, on_line: Callable[[bytes], None], grace_seconds: float = GRACE_SECONDS
) -> Ended:
    """Run the command and hand over each line of its stdout; end its whole group at the deadline or on any error."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    )
    try:
        overran, stderr = _read(process, time.monotonic() + deadline_seconds, on_line)
        stuck = overran and not _end(process, grace_seconds)
    finally:
        # What the child left running in its group ends here, also when the agent itself is told to end.
        _signal_group(process, signal.SIGKILL)
    exit_code = None if stuck else _reaped(process, _REAP_SECONDS)
    return Ended(exit_code, overran, exit_code is None, stderr.decode("utf-8", "replace"))


def _read(process: subprocess.Popen[bytes], deadline: float, on_line: Callable[[bytes], None]) -> tuple[bool, bytes]:
    """Read until both pipes end and the process too; return whether the deadline came first, and stderr."""
    assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - both are pipes
    stderr, lines = bytearray(), bytearray()
    with process.stdout, process.stderr, selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return True, bytes(stderr)
            for key, _ in selector.select(min(left, _TICK_SECONDS)):
                block = os.read(key.fd, 65536)
                if not block:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    stderr = _append_capped(stderr, block)
                else:
                    lines = _hand_over(lines + block, on_line)
            if process.poll() is not None:
                _signal_group(process, signal.SIGKILL)  # a grandchild may hold the pipes open
    return _reaped(process, max(deadline - time.monotonic(), 0.0)) is None, bytes(stderr)


def _hand_over(lines: bytearray, on_line: Callable[[bytes], None]) -> bytearray:
    *whole, rest = bytes(lines).split(b"\n")
    for line in whole:
        on_line(line)
    return bytearray(rest[:_LINE_LIMIT_BYTES])


def _append_capped(stderr: bytearray, block: bytes) -> bytearray:
    stderr += block
    if len(stderr) > _STDERR_LIMIT_BYTES:
        half = _STDERR_LIMIT_BYTES // 2
        return stderr[:half] + stderr[-half:]
    return stderr


def _end(process: subprocess.Popen[bytes], grace_seconds: float) -> bool:
    """TERM, wait, KILL; return whether the child is gone."""
    _signal_group(process, signal.SIGTERM)
    if _reaped(process, grace_seconds) is not None:
        return True
    _signal_group(process, signal.SIGKILL)
    return _reaped(process, _REAP_SECONDS) is not None


def _reaped(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
