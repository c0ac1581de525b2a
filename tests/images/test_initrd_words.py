"""The initrd believes the command line about what to start, and the service about who starts it."""

from pathlib import Path

import pytest

from tests.images.initrd_shell import MAC, POWERED_OFF, SHELLS, TOKEN, UUID, InitrdShell
from tests.images.root_server import RootServer, Words

ROOT = "sha256:" + "1a" * 32
GOOD = f"firstlight.root={ROOT} firstlight.verity={'2b' * 32} firstlight.verity_offset=4096 firstlight.overlay_mib=64"
GRANTED = f"firstlight.token={TOKEN}\nfirstlight.node=r01-u01".encode()


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> InitrdShell:
    return InitrdShell(tmp_path, request.param)


def test_the_last_of_two_words_wins_and_mirrors_add_up(shell: InitrdShell) -> None:
    words = "quiet firstlight.server=http://a/ firstlight.server=http://b/ firstlight.mirror=http://m/ firstlight.mirror=http://*"
    ran = shell.run('fl_say "$fl_server +$fl_mirrors"', words)
    assert ran.console == "firstlight: http://b + http://m http://*\n"


def test_the_agent_finds_all_words_and_that_the_root_was_verified(shell: InitrdShell) -> None:
    words = (
        f"quiet firstlight.server=http://a firstlight.verified=1 firstlight.token={TOKEN} firstlight.mirror=http://m"
    )
    assert shell.run("fl_leave_words", words).code == 0
    file = shell.folder / "run" / "boot-words"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().splitlines() == [
        "firstlight.server=http://a",
        f"firstlight.token={TOKEN}",
        "firstlight.mirror=http://m",
        "firstlight.verified=1",
    ]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("firstlight.root=" + "1a" * 32, "firstlight.root"),
        ("firstlight.root=sha256:../../etc", "firstlight.root"),
        ("firstlight.root=", "firstlight.root"),
        ("firstlight.verity=" + "2B" * 32, "firstlight.verity"),
        ("firstlight.verity_offset=08", "firstlight.verity_offset"),
        ("firstlight.verity_offset=1e9 firstlight.overlay_mib=-1", "firstlight.verity_offset firstlight.overlay_mib"),
        ("firstlight.mirror=file:///etc/shadow", "firstlight.mirror"),
    ],
)
def test_unusable_words_are_named_and_nothing_is_fetched(shell: InitrdShell, wrong: str, named: str) -> None:
    with RootServer(b"") as server:
        words = f"firstlight.server={server.url} firstlight.token={TOKEN} {GOOD}"
        assert shell.run("fl_check_words", words).code == 0
        ran = shell.run("fl_check_words", f"{words} {wrong}")
    assert ran.code == POWERED_OFF
    detail = f"missing or unusable on the boot command line: {named}"
    assert server.reports == [{"kind": "fetch", "detail": detail}]


def test_no_server_is_said_on_the_console(shell: InitrdShell) -> None:
    ran = shell.run("fl_check_server", "firstlight.server=ftp://x")
    assert ran.code == POWERED_OFF
    assert "what:   the boot command line has no usable firstlight.server\n" in ran.console
    assert "could not be told" in ran.console


def test_a_boot_without_a_token_asks_for_its_words_by_who_it_is(shell: InitrdShell) -> None:
    with RootServer(b"") as server:
        server.words = iter([Words(200, GRANTED)])
        words = f"firstlight.server={server.url} firstlight.image=sha256:77 {GOOD}"
        ran = shell.run("fl_claim; fl_check_words; fl_leave_words", words)
    assert ran.code == 0, ran
    (question,) = server.questions
    assert question == {
        "uuid": [UUID],
        "serial": ["SN 1&2"],
        "mac": [MAC],
        "arch": ["x86_64"],
        "image": ["sha256:77"],
    }
    assert f"firstlight.token={TOKEN}\n" in (shell.folder / "run" / "boot-words").read_text()
    assert not (shell.folder / "claim").exists()


def test_the_service_cannot_change_what_is_started(shell: InitrdShell) -> None:
    """The command line of a signed boot program is signed; the answer of a server is not."""
    answer = GRANTED + b"\nfirstlight.root=sha256:" + b"ff" * 32 + b"\nfirstlight.verity=" + b"ff" * 32
    with RootServer(b"") as server:
        server.words = iter([Words(200, answer + b"\nfirstlight.server=http://evil\nfirstlight.mirror=http://m\n")])
        ran = shell.run('fl_claim; fl_say "$fl_root $fl_server$fl_mirrors"', f"firstlight.server={server.url} {GOOD}")
    assert ran.console == f"firstlight: {ROOT} {server.url} http://m\n"


def test_pages_of_proxies_and_errors_are_no_words(shell: InitrdShell) -> None:
    answers = [
        Words(503, b"", {"Retry-After": "40"}),
        Words(200, b"<html>log in</html>"),
        Words(404, b"no such page"),
        Words(200, b'firstlight.token="bad token"\n'),
        Words(200, GRANTED),
    ]
    with RootServer(b"") as server:
        server.words = iter(answers)
        ran = shell.run("fl_claim", f"firstlight.server={server.url} {GOOD}")
    assert (ran.code, len(server.questions), len(ran.pauses)) == (0, 5, 4), ran
    assert 40 <= ran.pauses[0] <= 50


def test_a_refusal_is_shown_with_its_reason_and_the_server_goes_off(shell: InitrdShell) -> None:
    with RootServer(b"") as server:
        server.words = iter([Words(409, b"r01-u01 is in production: it starts from its own disk\n")])
        ran = shell.run("fl_claim", f"firstlight.server={server.url} {GOOD}")
    assert (ran.code, server.reports, ran.pauses) == (POWERED_OFF, [], [60])
    assert "r01-u01 is in production: it starts from its own disk" in ran.console


def test_a_service_that_never_answers_is_not_asked_for_ever(shell: InitrdShell) -> None:
    ran = shell.run("fl_claim_tries=12 fl_claim", f"firstlight.server=http://127.0.0.1:9 {GOOD}")
    assert ran.code == POWERED_OFF
    assert "gave no words for this boot: HTTP 000 Failed to connect" in ran.console
    assert len(ran.pauses) == 13
