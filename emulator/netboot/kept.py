"""What of a fetched file stays in memory: hosts by the hundred fetch images at once, and run little of them."""

import hashlib

_HEAD_BYTES = 2**16  # as far as the first bytes tell what a file is
_TAIL_BYTES = 2**14  # where a signature of an EFI binary stands
_KEPT_BYTES = 16 * 2**20  # scripts, ISOs and Python archives
_PROGRAM_BYTES = 4 * 2**20  # EFI binaries; what a unified kernel image begins with is its command line
_RUN = (b"#!", b"PK\3\4")
_ISO_AT, _ISO = 32769, b"CD001"


class Kept:
    """Takes a file block by block: its digest and size are of all of it, `head` and `tail` are what is kept."""

    __slots__ = ("_blocks", "_digest", "_flip", "_held", "_limit", "size", "tail")

    def __init__(self, *, flip: bool = False) -> None:
        """`flip`: a bit of the file changes on its way."""
        self._flip = flip
        self.restart()

    def restart(self) -> None:
        """Forget what came: the sender begins again."""
        self._digest = hashlib.sha256()
        self._blocks: list[bytes] = []
        self._held = 0
        self._limit: int | None = None
        self.tail = b""
        self.size = 0

    def add(self, block: bytes) -> None:
        """Take the next bytes."""
        self._digest.update(bytes([block[0] ^ 1]) + block[1:] if self._flip and not self.size and block else block)
        self.size += len(block)
        self.tail = block[-_TAIL_BYTES:] if len(block) >= _TAIL_BYTES else (self.tail + block)[-_TAIL_BYTES:]
        if self._limit is None or self._held < self._limit:
            self._blocks.append(block)
            self._held += len(block)
            self._cut()

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hex digits."""
        return f"sha256:{self._digest.hexdigest()}"

    @property
    def head(self) -> bytes:
        """The first bytes, as many as are kept of such a file."""
        return b"".join(self._blocks)

    def _cut(self) -> None:
        if self._limit is None and self._held >= _HEAD_BYTES:
            self._limit = _limit(self.head)
        if self._limit is not None and self._held > self._limit:
            self._blocks = [self.head[: self._limit]]
            self._held = self._limit


def _limit(head: bytes) -> int:
    """How much of a file that begins so is kept."""
    if head.startswith(_RUN) or head[_ISO_AT : _ISO_AT + len(_ISO)] == _ISO:
        return _KEPT_BYTES
    return _PROGRAM_BYTES if head.startswith(b"MZ") and head[0x202:0x206] != b"HdrS" else _HEAD_BYTES
