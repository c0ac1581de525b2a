"""The initrd fetches the root from servers that cut, lie, are busy or absent; it takes the right bytes or none."""

import random
from pathlib import Path

import pytest

from images.digest import digest_of
from tests.images.initrd_shell import POWERED_OFF, SHELLS, TOKEN, InitrdShell
from tests.images.root_server import RootServer, Step

CONTENT = random.Random(1).randbytes(3_000_000)
WRONG = bytes([CONTENT[0] ^ 1]) + CONTENT[1:]
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> InitrdShell:
    return InitrdShell(tmp_path, request.param)


def words(server: str, *mirrors: str) -> str:
    of_mirrors = (f"firstlight.mirror={mirror}" for mirror in mirrors)
    of_image = f"firstlight.root={digest_of(CONTENT)} firstlight.verity_offset=2900000"
    return " ".join([f"firstlight.server={server}", f"firstlight.token={TOKEN}", of_image, *of_mirrors])


def test_a_transfer_that_breaks_goes_on_where_it_ended(shell: InitrdShell) -> None:
    with RootServer(CONTENT, Step(cut=1_000_000), Step(cut=500_000), Step()) as server:
        ran = shell.run("fl_fetch", words(server.url))
    assert (ran.code, shell.file.read_bytes()) == (0, CONTENT), ran
    assert server.asked == [None, "bytes=1000000-", "bytes=1500000-"]


def test_the_mirror_is_asked_first_and_the_service_not_at_all(shell: InitrdShell) -> None:
    with RootServer(CONTENT) as server, RootServer(CONTENT) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url))
    assert (ran.code, server.asked, mirror.asked) == (0, [], [None])


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_a_mirror_without_the_file_is_left_at_once(shell: InitrdShell, status: int) -> None:
    with RootServer(CONTENT) as server, RootServer(CONTENT, Step(status)) as mirror:
        ran = shell.run("fl_fetch", words(server.url, NOBODY, mirror.url))
    assert (ran.code, len(mirror.asked), len(server.asked)) == (0, 1, 1)
    assert shell.file.read_bytes() == CONTENT


def test_wrong_bytes_are_deleted_and_the_next_server_is_asked_from_the_beginning(shell: InitrdShell) -> None:
    with RootServer(CONTENT) as server, RootServer(CONTENT, Step(content=WRONG)) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url))
    assert (ran.code, mirror.asked, server.asked) == (0, [None], [None])
    assert shell.file.read_bytes() == CONTENT
    assert f"{mirror.url} gave wrong bytes" in ran.console


def test_a_file_that_is_too_short_is_wrong(shell: InitrdShell) -> None:
    with RootServer(CONTENT) as server, RootServer(CONTENT, Step(content=CONTENT[:-1])) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url))
    assert (ran.code, server.asked) == (0, [None])


def test_a_right_server_is_not_blamed_for_the_half_that_another_sent(shell: InitrdShell) -> None:
    """The mirror sends wrong bytes and breaks for good; the service goes on from there, then sends the whole."""
    mirror_steps = (Step(content=WRONG, cut=1_000_000), *[Step(500)] * 4, Step(404))
    with RootServer(CONTENT) as server, RootServer(CONTENT, *mirror_steps) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url))
    assert (ran.code, shell.file.read_bytes()) == (0, CONTENT), ran
    assert server.asked == ["bytes=1000000-", None]


def test_a_server_without_ranges_is_asked_from_the_beginning(shell: InitrdShell) -> None:
    with RootServer(CONTENT, Step(cut=1_000_000), Step(ranges=False)) as server:
        ran = shell.run("fl_fetch", words(server.url))
    assert (ran.code, shell.file.read_bytes()) == (0, CONTENT), ran
    assert server.asked == [None, "bytes=1000000-", None]


def test_a_busy_server_is_asked_when_it_said(shell: InitrdShell) -> None:
    """RFC 9110 section 10.2.3."""
    busy = Step(503, {"Retry-After": "120"})
    with RootServer(CONTENT, *[busy] * 9, Step()) as server:
        ran = shell.run("fl_fetch", words(server.url))
    assert (ran.code, shell.file.read_bytes(), len(ran.pauses)) == (0, CONTENT, 9), ran
    assert all(120 <= pause <= 150 for pause in ran.pauses)


def test_a_busy_mirror_does_not_hold_up_a_free_one(shell: InitrdShell) -> None:
    with RootServer(CONTENT) as server, RootServer(CONTENT, Step(429, {"Retry-After": "3000"})) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url))
    assert (ran.code, ran.pauses) == (0, [])


def test_servers_that_stay_busy_are_given_up_after_an_hour(shell: InitrdShell) -> None:
    with RootServer(CONTENT, Step(503, {"Retry-After": "99999"})) as server:
        ran = shell.run("fl_fetch", words(server.url))
    assert ran.code == POWERED_OFF
    assert sum(pause for pause in ran.pauses if pause >= 300) <= 3600 * 1.25
    assert server.reports[0]["kind"] == "fetch"
    assert "503" in server.reports[0]["detail"]


def test_wrong_bytes_from_all_are_reported_with_who_sent_them_and_nothing_is_kept(shell: InitrdShell) -> None:
    with RootServer(CONTENT, Step(content=WRONG)) as server, RootServer(CONTENT, Step(content=WRONG)) as mirror:
        ran = shell.run("fl_fetch", words(server.url, mirror.url) + " firstlight.node=r01-u01")
    assert (ran.code, len(mirror.asked), len(server.asked)) == (POWERED_OFF, 1, 1)
    assert not shell.file.exists()
    assert server.bearers == [f"Bearer {TOKEN}"]
    (report,) = server.reports
    assert report["kind"] == "integrity"
    assert report["detail"] == f"wrong bytes for {digest_of(CONTENT)} from {mirror.url} {server.url}"
    assert "this server did not start (r01-u01)" in ran.console
    assert "the image owner checks the file on the servers named above. The service has been told." in ran.console
    assert ran.pauses[-1] == 60


def test_a_file_that_nobody_has_is_reported_after_some_rounds(shell: InitrdShell) -> None:
    with RootServer(CONTENT, Step(404)) as server:
        ran = shell.run("fl_fetch", words(server.url, NOBODY))
    assert (ran.code, len(server.asked)) == (POWERED_OFF, 6)
    (report,) = server.reports
    assert report["kind"] == "fetch"
    assert f"{server.url}: The requested URL returned error: 404" in report["detail"]
    assert f"{NOBODY}: Failed to connect" in report["detail"]


def test_a_report_is_sent_until_the_service_takes_it(shell: InitrdShell) -> None:
    with RootServer(CONTENT) as server:
        server.report_statuses = [500, 503, 204]
        ran = shell.run('fl_fail mount "a \\"quoted\\" \\\\ and\ta token $fl_token"', words(server.url))
    assert (ran.code, len(server.reports)) == (POWERED_OFF, 3)
    assert server.reports[-1] == {"kind": "mount", "detail": 'a "quoted" \\ and a token ***'}
    assert "The service has been told." in ran.console


@pytest.mark.parametrize(("statuses", "tries"), [([401], 1), ([500] * 6, 6)])
def test_a_service_that_takes_no_report_does_not_keep_the_server_on(
    shell: InitrdShell, statuses: list[int], tries: int
) -> None:
    with RootServer(CONTENT) as server:
        server.report_statuses = list(statuses)
        ran = shell.run("fl_fail fetch why", words(server.url))
    assert (ran.code, len(server.reports)) == (POWERED_OFF, tries)
    assert "could not be told: note this message" in ran.console
    assert sum(ran.pauses) < 150


def test_what_init_itself_gives_up_on_ends_the_same_way_and_not_in_a_shell(shell: InitrdShell) -> None:
    """The panic() of initramfs-tools starts a shell, or restarts where the command line has panic=."""
    with RootServer(CONTENT) as server:
        ran = shell.run('panic "No init found."', words(server.url))
    assert (ran.code, server.reports) == (POWERED_OFF, [{"kind": "mount", "detail": "No init found."}])


def test_a_root_that_does_not_fit_into_memory_is_said_in_numbers(shell: InitrdShell) -> None:
    shell.write("meminfo", "MemTotal:  2097152 kB\nMemFree: 5 kB\nMemAvailable:  409600 kB\n")
    with RootServer(CONTENT) as server:
        ran = shell.run("fl_make_room", words(server.url) + " firstlight.verity_offset=300000000")
    assert ran.code == POWERED_OFF
    detail = "the root needs 288 MiB and 160 MiB beside it, but 400 MiB of 2048 MiB are free"
    assert server.reports == [{"kind": "memory", "detail": detail}]
