"""The agent against a service that loses answers, lies, disappears and returns."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from images.agent.boot_words import BootWordsError, parse_boot_words, read_boot_words
from images.build import agent_files, zip_archive
from images.digest import digest_of
from tests.images.processes import children_of, running_in_group, wait
from tests.images.service import TOKEN, Service, send
from tests.requirements import need

BOOT = "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b"
IMAGE = "sha256:" + "12" * 32
CPU = {"id": "cpu", "kind": "cpu", "parameters": {"seconds": 0.1}, "deadline_seconds": 20.0}
MEMORY = {"id": "memory", "kind": "memory", "parameters": {"mebibytes": 2, "passes": 1}, "deadline_seconds": 20.0}
DISK = {"id": "disk", "kind": "disk", "parameters": {"mebibytes": 2}, "deadline_seconds": 20.0}
LONG = {"id": "long", "kind": "cpu", "parameters": {"seconds": 60}, "deadline_seconds": 60.0}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("root") / "root.pyz"
    path.write_bytes(zip_archive(agent_files()))
    return path


@contextmanager
def agent(archive: Path, service: Service, boot_id: str = BOOT) -> Iterator[subprocess.Popen[str]]:
    words = [
        f"firstlight.server={service.url}",
        "firstlight.node=r01-u01",
        f"firstlight.token={TOKEN}",
        f"firstlight.image={IMAGE}",
        f"firstlight.root={digest_of(archive.read_bytes())}",
        "quiet",
        f"firstlight.boot_id={boot_id}",
    ]
    with agent_process([sys.executable, "-I", str(archive), *words], archive.parent) as process:
        yield process


@contextmanager
def agent_process(command: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        stderr = process.communicate(timeout=10)[1]
        assert TOKEN not in stderr
        assert "session-secret" not in stderr
        assert "Traceback" not in stderr
        sys.stderr.write(stderr)


def test_a_node_runs_its_plan_and_then_stays_in_touch(archive: Path) -> None:
    service = Service([CPU, MEMORY, DISK])
    with service.running(), agent(archive, service):
        wait(lambda: len(service.results) == 3)
        plans, beats = service.plans, len(service.heartbeats)
        wait(lambda: service.plans > plans + 1 and len(service.heartbeats) > beats + 1)
    assert [(result["item"], result["status"]) for result in service.results] == [
        ("cpu", "pass"),
        ("memory", "pass"),
        ("disk", "pass"),
    ]
    registration = service.registrations[0]
    assert registration["root"] == digest_of(archive.read_bytes())
    assert (registration["image"], registration["boot_id"]) == (IMAGE, BOOT)
    cpu, memory, disk = (result["metrics"] for result in service.results)
    assert cpu["threads"] == len(os.sched_getaffinity(0))
    assert cpu["operations_per_second"] > 0
    assert memory["mebibytes_per_second"] > 0
    assert disk["write_mebibytes_per_second"] > 0
    assert disk["read_mebibytes_per_second"] > 0
    assert cpu["mismatches"] == memory["mismatches"] == disk["mismatches"] == 0
    assert all("kernel log" in result["evidence"] for result in service.results)
    assert not list(archive.parent.glob("firstlight-disk-check*"))


def test_heartbeats_go_on_while_an_item_runs(archive: Path) -> None:
    service = Service([{**CPU, "parameters": {"seconds": 1.0}}])
    with service.running(), agent(archive, service):
        wait(lambda: service.results)
    during = [beat for beat in service.heartbeats if beat["item"] == "cpu"]
    sequences = [beat["sequence"] for beat in service.heartbeats]
    assert len(during) >= 3
    assert sequences == sorted(set(sequences))
    assert during[-1]["percent"] > during[0]["percent"]
    assert {beat["run"] for beat in during} == {"run-1"}


def test_a_check_that_overruns_its_deadline_is_an_error_with_evidence(archive: Path) -> None:
    service = Service([{**LONG, "deadline_seconds": 0.6}, MEMORY])
    with service.running(), agent(archive, service):
        wait(lambda: len(service.results) == 2)
    assert [result["status"] for result in service.results] == ["error", "pass"]
    assert "deadline of 0.6 s overrun" in service.results[0]["evidence"]


def test_an_unknown_kind_of_check_is_an_error_and_the_plan_goes_on(archive: Path) -> None:
    service = Service([{**CPU, "id": "gpu", "kind": "gpu"}, {**DISK, "parameters": {}}, MEMORY])
    with service.running(), agent(archive, service):
        wait(lambda: len(service.results) == 3)
    assert [result["status"] for result in service.results] == ["error", "error", "pass"]
    assert "no check of kind 'gpu'" in service.results[0]["evidence"]
    assert "'mebibytes' is missing" in service.results[1]["evidence"]


def lose_every_first_answer() -> Callable[[BaseHTTPRequestHandler], bool]:
    seen: set[str] = set()

    def trouble(request: BaseHTTPRequestHandler) -> bool:
        if request.path not in seen:
            seen.add(request.path)
            request.lose_answer = True  # type: ignore[attr-defined]  # read by the handler
        return False

    return trouble


def answer_wrongly_in_turn() -> Callable[[BaseHTTPRequestHandler], bool]:
    turns: dict[str, int] = {}

    def trouble(request: BaseHTTPRequestHandler) -> bool:
        turn = turns[request.path] = turns.get(request.path, 0) + 1
        if turn == 1:
            send(request, 503, b"busy", "text/plain")
        elif turn == 2:
            send(request, 200, b"<html>please log in</html>", "text/html")
        elif turn == 3:
            send(request, 404, b"<html>no such site</html>", "text/html")
        elif turn == 4:
            request.wfile.write(b"\x16\x03\x01\x02garbage\r\n\r\n")
            request.close_connection = True
        elif turn == 5:
            send(request, 200, b'{"run": "run-1", "attempt": "one", "items": [7]}', "application/json")
        return turn <= 5 and not (turn == 5 and request.path == "/v1/agent/results")

    return trouble


@pytest.mark.parametrize("trouble", [lose_every_first_answer, answer_wrongly_in_turn])
def test_results_arrive_once_and_in_order_through_all_trouble(
    archive: Path, trouble: Callable[[], Callable[[BaseHTTPRequestHandler], bool]]
) -> None:
    service = Service([CPU, MEMORY, DISK])
    service.trouble = trouble()
    with service.running(), agent(archive, service):
        wait(lambda: len(service.results) == 3, 40)
    assert [result["item"] for result in service.results] == ["cpu", "memory", "disk"]
    assert service.result_posts >= 3


def test_a_service_that_disappears_gets_all_results_when_it_returns(archive: Path) -> None:
    service = Service([CPU, MEMORY, DISK])
    with service.running():
        pass  # takes a port
    with agent(archive, service) as process:
        time.sleep(0.5)
        with service.running():
            wait(lambda: service.plans)
        assert len(service.results) < 3
        time.sleep(1.5)  # all items run and end meanwhile
        assert process.poll() is None
        with service.running():
            wait(lambda: len(service.results) == 3)
    assert [result["item"] for result in service.results] == ["cpu", "memory", "disk"]


def test_a_service_that_forgot_the_session_is_registered_with_again(archive: Path) -> None:
    service = Service([CPU])
    with service.running(), agent(archive, service):
        wait(lambda: service.results)
        with service.lock:
            service.sessions.clear()
        beats = len(service.heartbeats)
        wait(lambda: len(service.heartbeats) > beats + 2)
    assert len(service.registrations) == 2


def test_a_token_of_another_boot_ends_the_agent_and_it_says_why(archive: Path) -> None:
    service = Service([CPU])
    service.boot_id = "another"
    with service.running(), agent(archive, service) as process:
        stderr = process.communicate(timeout=10)[1]
        assert process.returncode == 3
        assert "refused by the service" in stderr
        assert "token *** is used by boot another" in stderr


def test_a_killed_and_restarted_agent_continues_with_what_is_left(archive: Path) -> None:
    service = Service([CPU, {**LONG, "id": "memory"}])
    with service.running():
        with agent(archive, service) as process:
            wait(lambda: service.results and any(beat["item"] == "memory" for beat in service.heartbeats))
            (check,) = children_of(process.pid)
            process.send_signal(signal.SIGKILL)
            wait(lambda: not running_in_group(check), 5)
        service.items[1] = MEMORY
        with agent(archive, service):
            wait(lambda: len(service.results) == 2)
    assert [result["item"] for result in service.results] == ["cpu", "memory"]
    sequences = [beat["sequence"] for beat in service.heartbeats]
    assert sequences == sorted(set(sequences))


def test_a_terminated_agent_leaves_no_check_behind(archive: Path) -> None:
    service = Service([LONG])
    with service.running(), agent(archive, service) as process:
        wait(lambda: any(beat["item"] == "long" for beat in service.heartbeats))
        (check,) = children_of(process.pid)
        process.terminate()
        assert process.wait(timeout=5) == 0
        wait(lambda: not running_in_group(check), 2)


def test_a_missing_word_ends_the_agent_and_it_names_the_word(archive: Path) -> None:
    command = [sys.executable, "-I", str(archive), f"firstlight.token={TOKEN}", "firstlight.image=x"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr == "firstlight-agent: cannot start reason=the boot command line lacks firstlight.server\n"


def test_the_check_is_usable_by_hand(archive: Path) -> None:
    """A technician on the console can run one check without the service."""
    command = [sys.executable, "-I", str(archive), "check", "memory", '{"mebibytes": 1, "passes": 2}']
    ran = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(ran.stdout.splitlines()[-1])["status"] == "pass"


VERIFIED_ROOT = "sha256:" + "34" * 32


def test_inside_a_verified_root_the_root_is_the_one_that_the_initrd_checked(archive: Path) -> None:
    """The initrd leaves its words in /run; here, /run is one of the test's own."""
    need(os.geteuid() == 0, "needs root: it mounts a /run of its own")
    service = Service([CPU])
    with service.running():
        file = archive.parent / "boot-words"
        words = [
            f"firstlight.server={service.url}",
            f"firstlight.token={TOKEN}",
            f"firstlight.image={IMAGE}",
            f"firstlight.root={VERIFIED_ROOT}",
            "firstlight.verified=1",
        ]
        file.write_text("".join(f"{word}\n" for word in words))
        own_run = 'mount -t tmpfs tmpfs /run && install -D -m 600 boot-words /run/firstlight/boot-words && exec "$@"'
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", own_run, "sh"]
        with agent_process([*command, sys.executable, "-I", str(archive)], archive.parent):
            wait(lambda: service.results)
    kernel_boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    registration = service.registrations[0]
    assert (registration["root"], registration["boot_id"]) == (VERIFIED_ROOT, kernel_boot_id)


def test_only_the_initrd_can_say_that_a_root_was_verified(tmp_path: Path) -> None:
    command_line, file = tmp_path / "cmdline", tmp_path / "boot-words"
    line = f"quiet firstlight.server=http://s firstlight.token={TOKEN} firstlight.image={IMAGE}"
    command_line.write_text(f"{line} firstlight.root={VERIFIED_ROOT} firstlight.verified=1\n")
    assert parse_boot_words(read_boot_words(file, command_line), BOOT).verified_root == ""
    file.write_text(command_line.read_text())
    assert parse_boot_words(read_boot_words(file, command_line), BOOT).verified_root == VERIFIED_ROOT


def test_words_of_the_initrd_that_cannot_be_read_are_an_error_and_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "cmdline").write_text("quiet\n")
    with pytest.raises(BootWordsError, match=r"cannot read .*: Is a directory"):
        read_boot_words(tmp_path, tmp_path / "cmdline")
