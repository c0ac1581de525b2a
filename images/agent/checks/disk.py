"""Disk: write a file of seeded pseudo-random data, flush it to the device, read it back and compare."""

import errno
import hashlib
import os
import time
from pathlib import Path

from images.agent.checks.verdict import Progress, Verdict

MEBIBYTE = 2**20
_EXAMPLES = 5


def check_disk(parameters: dict[str, float], progress: Progress) -> Verdict:
    """Check `mebibytes` in the working directory; fail on a difference or an I/O error of the device."""
    mebibytes = int(parameters["mebibytes"])
    seed = os.urandom(16)
    path = Path.cwd() / f"firstlight-disk-check-{os.getpid()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        path.unlink()  # The space is given back however this process ends.
        began = time.monotonic()
        write(descriptor, seed, mebibytes, progress)
        written = time.monotonic()
        wrong = verify(descriptor, seed, mebibytes, progress)
        ended = time.monotonic()
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return Verdict("fail", {}, f"disk: I/O error on {path.parent}: {error}")
    finally:
        os.close(descriptor)
    metrics = {
        "write_mebibytes_per_second": round(mebibytes / (written - began), 1),
        "read_mebibytes_per_second": round(mebibytes / (ended - written), 1),
        "mismatches": float(len(wrong)),
    }
    summary = f"disk: {mebibytes} MiB in {path.parent}, seed {seed.hex()}, {len(wrong)} blocks of 1 MiB differ"
    return Verdict("fail" if wrong else "pass", metrics, "\n".join([summary, *wrong[:_EXAMPLES]]))


def write(descriptor: int, seed: bytes, mebibytes: int, progress: Progress) -> None:
    """Write the blocks, wait for the device, and drop the cache so that reading means the device."""
    for block in range(mebibytes):
        left = memoryview(_content(seed, block))
        while left:
            left = left[os.write(descriptor, left) :]
        progress(50 * block / mebibytes)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def verify(descriptor: int, seed: bytes, mebibytes: int, progress: Progress) -> list[str]:
    """Return one line for each block of 1 MiB that differs."""
    wrong: list[str] = []
    for block in range(mebibytes):
        expected = _content(seed, block)
        actual = os.pread(descriptor, MEBIBYTE, block * MEBIBYTE)
        if actual != expected:
            pairs = enumerate(zip(actual, expected, strict=False))
            first = next((at for at, (got, wanted) in pairs if got != wanted), len(actual))
            wrong.append(
                f"offset 0x{block * MEBIBYTE + first:x}: expected {_hex(expected, first)}, got {_hex(actual, first)}"
            )
        progress(50 + 50 * block / mebibytes)
    return wrong


def _content(seed: bytes, block: int) -> bytes:
    return hashlib.shake_128(seed + block.to_bytes(8, "little")).digest(MEBIBYTE)


def _hex(content: bytes, at: int) -> str:
    return content[at : at + 8].hex() or "nothing"
