"""Memory: write patterns to all of an allocation, then read all of it back, so that cells must hold over the pass."""

import mmap
import time
from collections.abc import Callable
from typing import NamedTuple

from images.agent.checks.verdict import Progress, Verdict

MEBIBYTE = 2**20
CHUNK_BYTES = 64 * 1024
_WORDS = CHUNK_BYTES // 8
_ONE_PER_WORD = int.from_bytes((1).to_bytes(8, "little") * _WORDS, "little")
_COUNTING = int.from_bytes(b"".join(word.to_bytes(8, "little") for word in range(_WORDS)), "little")
_ALL_BITS = (1 << (8 * CHUNK_BYTES)) - 1
_WALKING_ONES = b"".join((1 << bit).to_bytes(8, "little") for bit in range(64)) * (_WORDS // 64)
_WALKING_ZEROS = bytes(byte ^ 0xFF for byte in _WALKING_ONES[:512]) * (_WORDS // 64)
_EXAMPLES = 3

Buffer = bytearray | mmap.mmap


class Pattern(NamedTuple):
    """`chunk(n)` is the content of the n-th 64 KiB."""

    name: str
    chunk: Callable[[int], bytes]


def _address(chunk: int) -> bytes:
    """Every 64-bit word holds its own number, so that a stuck address line shows."""
    return (_COUNTING + _ONE_PER_WORD * (chunk * _WORDS)).to_bytes(CHUNK_BYTES, "little")


def _inverted_address(chunk: int) -> bytes:
    return (_ALL_BITS - _COUNTING - _ONE_PER_WORD * (chunk * _WORDS)).to_bytes(CHUNK_BYTES, "little")


PATTERNS = (
    Pattern("address", _address),
    Pattern("inverted address", _inverted_address),
    Pattern("walking ones", lambda _chunk: _WALKING_ONES),
    Pattern("walking zeros", lambda _chunk: _WALKING_ZEROS),
)


def check_memory(parameters: dict[str, float], progress: Progress) -> Verdict:
    """Write and verify all patterns over `mebibytes`, `passes` times; fail on any word that differs."""
    mebibytes, passes = int(parameters["mebibytes"]), int(parameters["passes"])
    chunks = mebibytes * MEBIBYTE // CHUNK_BYTES
    wrong: list[str] = []
    mismatches = 0
    began = time.monotonic()
    steps = 2 * len(PATTERNS) * passes
    with mmap.mmap(-1, mebibytes * MEBIBYTE) as buffer:
        for index in range(passes * len(PATTERNS)):
            pattern = PATTERNS[index % len(PATTERNS)]
            write(buffer, pattern, chunks, _part(progress, 2 * index, steps))
            count, examples = verify(buffer, pattern, chunks, _part(progress, 2 * index + 1, steps))
            mismatches += count
            wrong.extend(examples)
    elapsed = time.monotonic() - began
    rate = round(steps * mebibytes / elapsed, 1)
    metrics = {"mebibytes_per_second": rate, "mismatches": float(mismatches)}
    summary = f"memory: {mebibytes} MiB, {passes} passes, {rate} MiB/s, {mismatches} mismatches"
    return Verdict("fail" if mismatches else "pass", metrics, "\n".join([summary, *wrong[:20]]))


def write(buffer: Buffer, pattern: Pattern, chunks: int, progress: Progress) -> None:
    """Fill the buffer."""
    for chunk in range(chunks):
        buffer[chunk * CHUNK_BYTES : (chunk + 1) * CHUNK_BYTES] = pattern.chunk(chunk)
        progress(100 * chunk / chunks)


def verify(buffer: Buffer, pattern: Pattern, chunks: int, progress: Progress) -> tuple[int, list[str]]:
    """Return how many 64-bit words differ, and where the first ones are."""
    mismatches = 0
    examples: list[str] = []
    for chunk in range(chunks):
        expected = pattern.chunk(chunk)
        actual = buffer[chunk * CHUNK_BYTES : (chunk + 1) * CHUNK_BYTES]
        if actual != expected:
            wrong = [at for at in range(0, CHUNK_BYTES, 8) if actual[at : at + 8] != expected[at : at + 8]]
            mismatches += len(wrong)
            for at in wrong[: _EXAMPLES - len(examples)]:
                words = f"expected {expected[at : at + 8][::-1].hex()}, got {bytes(actual[at : at + 8])[::-1].hex()}"
                examples.append(f"{pattern.name}: offset 0x{chunk * CHUNK_BYTES + at:x}: {words}")
        progress(100 * chunk / chunks)
    return mismatches, examples


def _part(progress: Progress, step: int, steps: int) -> Progress:
    return lambda percent: progress((100 * step + percent) / steps)
