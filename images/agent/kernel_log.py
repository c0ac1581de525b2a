"""What the kernel logged while an item ran."""

import os

_RECORD_BYTES = 8192
_LIMIT_RECORDS = 200


class KernelLog:
    """The kernel log from now on; reads records without waiting."""

    def __init__(self, path: str = "/dev/kmsg") -> None:
        """Go to the end of the log. Where it cannot be read, the delta says why."""
        self._descriptor = -1
        self._reason = ""
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as error:
            self._reason = f"kernel log: not readable ({error.strerror})"
            self.close()

    def delta(self) -> str:
        """Return what was logged since the beginning, as lines; never fails."""
        if self._descriptor < 0:
            return self._reason
        records: list[str] = []
        while len(records) < _LIMIT_RECORDS:
            try:
                record = os.read(self._descriptor, _RECORD_BYTES)
            except BlockingIOError:
                break
            except BrokenPipeError:
                records.append("[records were overwritten before they were read]")
                continue
            except OSError as error:
                records.append(f"[{error.strerror}]")
                break
            if not record:
                break
            records.append(record.decode("utf-8", "replace").partition(";")[2].split("\n")[0])
        return "\n".join(["kernel log:", *records]) if records else "kernel log: nothing new"

    def close(self) -> None:
        """Close the log; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
