"""What an initrd asks for, and what it reports."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from provisioner.models.role import Role
from provisioner.models.secret import Secret
from tests.api.booting import SAID, latest, ticket_of
from tests.api.site import N1, Site


def test_an_initrd_gets_the_words_of_its_boot(site: Site) -> None:
    ticket = ticket_of(site)
    got = site.request("GET", f"/boot/words?{SAID}&image={ticket.image}", None)
    assert (got.status_code, got.headers["Cache-Control"]) == (200, "no-store")
    assert got.text == f"firstlight.node=r01-u01\nfirstlight.token={ticket.token.reveal()}\n"
    assert (latest(site).served, latest(site).asked) == (0, 1)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"{SAID}&image=sha256:older", "this boot program is of image sha256:older"),
        (SAID, "this boot program is of image"),
        ("uuid=x&serial=MX9909C4&mac=&image=sha256:older", "this server is on no list"),
    ],
)
def test_an_initrd_that_gets_no_words_is_told_why_in_one_line(site: Site, query: str, reason: str) -> None:
    ticket = ticket_of(site)
    got = site.request("GET", f"/boot/words?{query}", None)
    assert (got.status_code, got.text.count("\n")) == (409, 1)
    assert got.text.startswith(reason)
    assert ticket.token.reveal() not in got.text


def report(site: Site, token: str, **body: object) -> int:
    """Report a failure as the initrd does; the status."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = site.request("POST", "/boot/failures", None, headers=headers, json={"kind": "fetch", "detail": "x"} | body)
    return answer.status_code


def test_a_failure_is_kept_and_told_in_the_story_of_the_node(site: Site) -> None:
    ticket = ticket_of(site)
    site.request("GET", f"/boot/{ticket.key.reveal()}", None)
    token = ticket.token.reveal()
    for _ in range(2):
        assert report(site, token, kind="integrity", detail="root from http://m1 is not sha256:r") == 204
    (failure,) = latest(site).failures
    assert (failure.kind, failure.detail, failure.served) == ("integrity", "root from http://m1 is not sha256:r", 1)
    assert site.runs.signals[-1] == (f"boot/{N1}/g1/a{ticket.attempt}", "agent")
    told = site.get(f"/v1/nodes/{N1}/history").json()["events"][-1]["reason"]
    assert told == "its boot failed (integrity): root from http://m1 is not sha256:r"
    text = site.request("GET", f"/boot/{ticket.key.reveal()}", None).text
    assert text.splitlines()[1:] == ["# its last boot failed (integrity): root from http://m1 is not sha256:r", "exit"]


@pytest.mark.parametrize(
    "body", [{"kind": "bored"}, {"detail": ""}, {"detail": "x" * 501}, {"detail": "a\nb"}, {"more": 1}]
)
def test_a_report_that_makes_no_sense_is_refused(site: Site, body: dict[str, object]) -> None:
    ticket = ticket_of(site)
    assert report(site, ticket.token.reveal(), **body) == 422
    assert latest(site).failures == ()


def test_only_the_token_of_the_latest_boot_reports_and_only_before_its_agent_does(site: Site) -> None:
    ticket = ticket_of(site)
    assert report(site, "guessed") == 401
    assert site.request("POST", "/boot/failures", None, json={"kind": "fetch", "detail": "x"}).status_code == 401
    assert report(site, site.tokens[Role.ADMIN]) == 401
    newer = replace(ticket, attempt=ticket.attempt + 1, key=Secret("another"), token=Secret("another token"))
    site.run(site.store.boots.open(newer))
    assert report(site, ticket.token.reveal()) == 409
    site.run(site.store.boots.registered(newer, "boot-1", "sha256:i", "sha256:r", datetime.now(UTC)))
    assert report(site, "another token") == 409
    assert latest(site).failures == ()
