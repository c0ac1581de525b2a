"""What the node is doing right now, written by the main thread and read by the heartbeat."""

import threading
import time
from typing import Any


class Vitals:
    """The current item and its progress; safe to share between threads."""

    def __init__(self, boot_id: str) -> None:
        """Start idle. Sequences begin at the uptime, so that they rise across restarts of the agent too."""
        self._boot_id = boot_id
        self._lock = threading.Lock()
        self._sequence = int(uptime_seconds() * 1000)
        self._run: str | None = None
        self._item: str | None = None
        self._percent: float | None = None

    def begin(self, run: str, item: str) -> None:
        """Note that an item runs."""
        with self._lock:
            self._run, self._item, self._percent = run, item, 0.0

    def progress(self, percent: float) -> None:
        """Note how much of the item is done, 0 to 100."""
        with self._lock:
            self._percent = min(max(percent, 0.0), 100.0)

    def end(self) -> None:
        """Note that nothing runs."""
        with self._lock:
            self._run = self._item = self._percent = None

    def next_heartbeat(self) -> dict[str, Any]:
        """Return the next message; each has a higher sequence than the one before."""
        with self._lock:
            self._sequence += 1
            return {
                "boot_id": self._boot_id,
                "sequence": self._sequence,
                "run": self._run,
                "item": self._item,
                "percent": self._percent,
                "uptime_seconds": round(uptime_seconds(), 3),
            }


def uptime_seconds() -> float:
    """Return the time since boot, suspend included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
