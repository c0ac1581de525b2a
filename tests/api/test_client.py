"""The client: what is sent again, what never is, and what a refusal becomes."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from pydantic import ValidationError

from provisioner.client.exchange import Exchange, NobodyAnswersError, Patience
from provisioner.client.problem import NothingThereError, ProblemError, problem_error
from provisioner.errors import NotFound
from provisioner.models.role import Role
from provisioner.models.secret import Secret
from tests.api.site import N1, Site
from tests.api.webhook_receiver import DROP, Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server that answers as it is told."""
    with receiving() as one:
        yield one


def exchange(url: str, pauses: list[float], tries: int = 4) -> Exchange:
    return Exchange(url.partition("/hook")[0], Secret("t"), Patience(tries, sleep=pauses.append))


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("trouble", [DROP, 429, 503])
def test_a_lost_or_put_off_answer_is_asked_for_again(receiver: Receiver, method: str, trouble: int) -> None:
    receiver.answers.extend([trouble] * 3)
    pauses: list[float] = []
    assert exchange(receiver.url, pauses).send(method, "/x", b"{}" if method == "POST" else None).status == 204
    assert pauses == [0.2, 0.4, 0.8]
    keys = [headers.get("idempotency-key") for headers, _ in receiver.got]
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert (keys[0] is None) == (method == "GET")


def test_each_post_has_a_key_of_its_own(receiver: Receiver) -> None:
    ways = exchange(receiver.url, [])
    for _ in range(2):
        ways.send("POST", "/x", b"{}")
    ways.send("POST", "/x", b"{}", {"Idempotency-Key": "mine"})
    keys = [headers["idempotency-key"] for headers, _ in receiver.got]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


@pytest.mark.parametrize("trouble", [429, 503])
def test_patience_ends(receiver: Receiver, trouble: int) -> None:
    receiver.answers.extend([trouble] * 9)
    assert exchange(receiver.url, []).send("GET", "/x", None).status == trouble
    assert len(receiver.got) == 4


@pytest.mark.parametrize("status", [400, 404, 409, 500, 502, 504])
def test_a_plain_no_is_taken_for_one(receiver: Receiver, status: int) -> None:
    receiver.answers.append(status)
    assert exchange(receiver.url, []).send("POST", "/x", b"{}").status == status
    assert len(receiver.got) == 1


def test_a_delete_is_sent_once(receiver: Receiver) -> None:
    receiver.answers.append(DROP)
    with pytest.raises(NobodyAnswersError, match="no service answers"):
        exchange(receiver.url, []).send("DELETE", "/x", None)
    assert len(receiver.got) == 1


def test_where_no_service_is_nobody_waits() -> None:
    pauses: list[float] = []
    with pytest.raises(NobodyAnswersError, match="no service answers"):
        exchange("http://127.0.0.1:9", pauses).send("GET", "/x", None)
    assert pauses == []


def test_a_refusal_has_its_pointers(shared_site: Site) -> None:
    ways = Exchange(shared_site.url, Secret(shared_site.tokens[Role.ADMIN]))
    answer = ways.send("POST", f"/v1/nodes/{N1}/hold", b'{"reason": "", "force": 1}')
    error = problem_error(answer.status, answer.content)
    assert isinstance(error, ProblemError)
    assert (error.status, sorted(error.pointers)) == (422, ["#/force", "#/reason"])
    assert all(pointer in str(error) for pointer in error.pointers)
    gone = ways.send("GET", "/v1/nodes/nobody", None)
    assert isinstance(problem_error(gone.status, gone.content), NothingThereError)
    assert issubclass(NothingThereError, NotFound)


def test_what_is_no_problem_document_is_no_answer_of_ours() -> None:
    with pytest.raises(ValidationError):
        problem_error(502, b"<html>Bad Gateway</html>")


def test_a_lost_answer_has_one_effect(site: Site) -> None:
    """The real service: the same POST twice, as after a lost answer."""
    ways = Exchange(site.url, Secret(site.tokens[Role.ADMIN]))
    sent: list[Any] = [
        ways.send("POST", f"/v1/nodes/{N1}/hold", b'{"reason": "x"}', {"Idempotency-Key": "k"}) for _ in range(2)
    ]
    assert sent[0] == sent[1]
    assert len(site.get("/v1/audit").json()["lines"]) == 1


def test_the_token_is_in_no_message(receiver: Receiver) -> None:
    receiver.answers.append(DROP)
    with structlog.testing.capture_logs() as logs, pytest.raises(NobodyAnswersError) as failed:
        Exchange(receiver.url.partition("/hook")[0], Secret("geheim"), Patience(1)).send("GET", "/x", None)
    assert "geheim" not in f"{failed.value}{logs}{Exchange('u', Secret('geheim'))}"
