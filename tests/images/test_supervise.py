"""A child process ends at its deadline, whatever it does about it, and leaves nothing running."""

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.agent.evidence import LIMIT_BYTES, cap
from images.agent.item import judge
from images.agent.kernel_log import KernelLog
from images.agent.plan import Item, PlanError, parse_plan
from images.agent.supervise import Ended, supervise
from tests.images.processes import is_running, wait

ITEM = Item("cpu", "cpu", {}, 5.0)


def run(script: str, deadline_seconds: float = 10.0) -> tuple[Ended, list[bytes], float]:
    lines: list[bytes] = []
    began = time.monotonic()
    ended = supervise([sys.executable, "-I", "-S", "-c", script], deadline_seconds, lines.append, grace_seconds=0.3)
    return ended, lines, time.monotonic() - began


def test_lines_and_stderr_are_kept() -> None:
    ended, lines, _ = run("import sys; print('a'); print('b'); sys.stderr.write('why'); sys.exit(4)")
    assert (ended, lines) == (Ended(4, False, False, "why"), [b"a", b"b"])


@pytest.mark.parametrize("number", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN);"])
def test_a_deadline_ends_a_child_that_obeys_and_one_that_does_not(number: str) -> None:
    ended, lines, seconds = run(f"import signal, time; {number} print('up', flush=True); time.sleep(60)", 0.7)
    assert (ended.overran, ended.stuck, lines) == (True, False, [b"up"])
    assert seconds < 5


def test_a_child_that_closed_its_pipes_has_a_deadline_too() -> None:
    ended, _, seconds = run("import os, time; os.close(1); os.close(2); time.sleep(60)", 0.7)
    assert ended.overran
    assert seconds < 5


def test_a_grandchild_that_holds_the_pipes_does_not_keep_us_waiting() -> None:
    script = "import os, time; pid = os.fork(); pid or time.sleep(60); print(pid, flush=True); os._exit(0)"
    ended, lines, seconds = run(script)
    assert ended.exit_code == 0
    assert seconds < 5
    wait(lambda: not is_running(int(lines[0])), 2)


def test_floods_on_both_pipes_are_bounded() -> None:
    script = "import sys\nfor _ in range(200): sys.stderr.write('e' * 65536); sys.stdout.write('x' * 65536)"
    ended, lines, _ = run(script)
    assert ended.exit_code == 0
    assert len(ended.stderr) <= 65536
    assert lines == []


@pytest.mark.parametrize(
    ("ended", "reported", "status", "reason"),
    [
        (Ended(0, False, False, ""), {"status": "pass"}, "pass", ""),
        (Ended(0, False, False, ""), {"status": "fail"}, "fail", ""),
        (Ended(0, False, False, ""), {}, "error", "without a verdict"),
        (Ended(0, False, False, ""), {"status": "fine"}, "error", "without a verdict"),
        (Ended(1, False, False, ""), {"status": "pass"}, "error", "code 1"),
        (Ended(-9, False, False, ""), {"status": "pass"}, "error", "signal 9 (out of memory?)"),
        (Ended(-15, True, False, ""), {"status": "pass"}, "error", "deadline of 5 s overrun"),
        (Ended(None, True, True, ""), {}, "error", "hung driver"),
    ],
)
def test_only_a_clean_end_with_a_verdict_counts(
    ended: Ended, reported: dict[str, str], status: str, reason: str
) -> None:
    answer = judge(ITEM, ended, reported)
    assert answer[0] == status
    assert reason in answer[1]


@given(st.text(max_size=50), st.integers(1, 3000))
def test_evidence_is_capped_with_head_and_tail(text: str, times: int) -> None:
    capped = cap(text * times)
    assert len(capped.encode()) <= LIMIT_BYTES
    assert capped[:1] == (text * times)[:1]
    assert capped[-1:] == (text * times)[-1:]


def test_a_kernel_log_that_cannot_be_read_is_said() -> None:
    assert KernelLog("/absent").delta() == "kernel log: not readable (No such file or directory)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["run", "items", "id"]), inner),
    max_leaves=6,
)


@given(JSON | st.fixed_dictionaries({"run": JSON, "attempt": JSON, "items": JSON | st.lists(JSON)}))
def test_a_wrong_plan_is_a_plan_error_and_nothing_else(document: object) -> None:
    try:
        plan = parse_plan(document)
    except PlanError:
        return
    assert isinstance(plan.run, str)
