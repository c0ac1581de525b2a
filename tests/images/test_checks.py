"""The checks find what is wrong with a machine, and say where."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from images.agent.check_process import KINDS, load_check
from images.agent.checks import cpu, disk, memory
from images.agent.checks.kernels import KERNELS, Kernel

MEBIBYTE = 2**20


def silent(_percent: float) -> None:
    """Take progress and say nothing."""


def test_every_kind_has_a_check_of_its_own() -> None:
    assert {load_check(kind).__name__ for kind in KINDS} == {f"check_{kind}" for kind in KINDS}


def test_every_kernel_has_its_known_answer() -> None:
    assert [kernel.compute() for kernel in KERNELS] == [kernel.answer for kernel in KERNELS]


def test_a_core_that_computes_wrongly_is_named() -> None:
    answers: Iterator[str] = iter(["7", "7", "8", "7"])
    wrong_once = Kernel("sevens", lambda: next(answers, "7"), "7", 1)
    report = cpu.compute_until(0.0, (wrong_once,) * 4)
    verdict = cpu.judge({0: cpu.compute_until(0.0, KERNELS[:1]), 5: report}, 1.0)
    assert verdict.status == "fail"
    assert verdict.metrics["mismatches"] == 1
    assert "core 5: sevens, round 1: expected 7, got 8" in verdict.evidence


def test_a_worker_that_dies_fails_the_check() -> None:
    verdict = cpu.judge({0: cpu.compute_until(0.0, KERNELS[:1]), 1: {}}, 1.0)
    assert verdict.status == "fail"
    assert "core 1: the worker died" in verdict.evidence


@pytest.mark.parametrize("pattern", memory.PATTERNS, ids=lambda pattern: pattern.name)
def test_every_pattern_holds_in_good_memory(pattern: memory.Pattern) -> None:
    buffer = bytearray(MEBIBYTE)
    memory.write(buffer, pattern, 16, silent)
    assert memory.verify(buffer, pattern, 16, silent) == (0, [])


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(memory.PATTERNS), st.integers(0, MEBIBYTE - 1), st.integers(0, 7))
def test_any_flipped_bit_is_found_at_its_word(pattern: memory.Pattern, offset: int, bit: int) -> None:
    buffer = bytearray(MEBIBYTE)
    memory.write(buffer, pattern, 16, silent)
    buffer[offset] ^= 1 << bit
    count, examples = memory.verify(buffer, pattern, 16, silent)
    assert count == 1
    assert examples[0].startswith(f"{pattern.name}: offset 0x{offset // 8 * 8:x}: expected ")


def test_two_addresses_that_are_one_cell_are_found() -> None:
    """A stuck address line: what is written to one half shows in the other."""
    address = memory.PATTERNS[0]
    buffer = bytearray(MEBIBYTE)
    memory.write(buffer, address, 16, silent)
    buffer[: MEBIBYTE // 2] = buffer[MEBIBYTE // 2 :]
    count, examples = memory.verify(buffer, address, 16, silent)
    assert count == MEBIBYTE // 2 // 8
    assert len(examples) == 3


@pytest.mark.parametrize("offset", [0, MEBIBYTE + 12345, 2 * MEBIBYTE - 1])
def test_a_changed_byte_on_the_disk_is_found(tmp_path: Path, offset: int) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    disk.write(descriptor, b"seed", 2, silent)
    assert disk.verify(descriptor, b"seed", 2, silent) == []
    byte = os.pread(descriptor, 1, offset)[0]
    os.pwrite(descriptor, bytes([byte ^ 1]), offset)
    (where,) = disk.verify(descriptor, b"seed", 2, silent)
    os.close(descriptor)
    assert where.startswith(f"offset 0x{offset:x}: expected ")


def test_a_disk_that_lost_the_end_is_found(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    disk.write(descriptor, b"seed", 2, silent)
    os.ftruncate(descriptor, MEBIBYTE + 10)
    (where,) = disk.verify(descriptor, b"seed", 2, silent)
    os.close(descriptor)
    assert where.startswith(f"offset 0x{MEBIBYTE + 10:x}: expected ")
    assert where.endswith("got nothing")


def test_the_file_of_the_disk_check_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert disk.check_disk({"mebibytes": 1}, silent).status == "pass"
    assert list(tmp_path.iterdir()) == []
