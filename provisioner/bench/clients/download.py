"""Downloads over kept connections that throw away what they read."""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from provisioner.bench.process import own_cpu_seconds
from provisioner.errors import BadInput

_BLOCK_BYTES = 2**20
_PATIENCE_SECONDS = 60.0
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Downloaded:
    """Whole files, over `connections`."""

    seconds: float
    bytes: int
    client_cpu_seconds: float


def download(port: int, path: str, size_bytes: int, *, connections: int, seconds: float) -> Downloaded:
    """Fetch the file again and again until `seconds` are over; what is begun is finished. Raises `BadInput`.

    It is fetched once before anything counts, so that it lies in the page cache.
    """
    _Connection(port, path, size_bytes).fetch_until(lambda: True)
    opened = [_Connection(port, path, size_bytes) for _ in range(connections)]
    started, spent = time.monotonic(), own_cpu_seconds()
    deadline = started + seconds
    threads = [threading.Thread(target=one.fetch_until, args=(lambda: time.monotonic() > deadline,)) for one in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [one.wrong for one in opened if one.wrong]
    if lost:
        raise BadInput(f"{len(lost)} of {connections} downloads failed: {lost[0]}")
    took = time.monotonic() - started
    return Downloaded(took, sum(one.files for one in opened) * size_bytes, own_cpu_seconds() - spent)


class _Connection:
    """One kept connection in a thread of its own."""

    def __init__(self, port: int, path: str, size_bytes: int) -> None:
        self.files = 0
        self.wrong = ""
        self._asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        self._size_bytes = size_bytes
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_SECONDS)
        self._block = bytearray(_BLOCK_BYTES)

    def fetch_until(self, is_over: Callable[[], bool]) -> None:
        """At least one file."""
        try:
            with self._socket:
                self._fetch()
                while not is_over():
                    self._fetch()
        except (OSError, ValueError) as error:
            self.wrong = str(error)

    def _fetch(self) -> None:
        self._socket.sendall(self._asked)
        left = self._size_bytes - len(self._first_bytes())
        while left > 0:
            got = self._socket.recv_into(self._block, min(_BLOCK_BYTES, left))
            if not got:
                raise ValueError(f"it ended {left} bytes too early")
            left -= got
        self.files += 1

    def _first_bytes(self) -> bytes:
        """What came with the head of the answer."""
        head = b""
        while _END not in head:
            got = self._socket.recv(4096)
            if not got:
                raise ValueError("it closed the connection")
            head += got
        said, _, first = head.partition(_END)
        length = f"content-length: {self._size_bytes}".encode()
        if not said.startswith(b"HTTP/1.1 200") or length not in said.lower():
            raise ValueError(f"it answered {said[:100]!r}")
        return first
