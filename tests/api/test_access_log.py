"""What the log says of a request."""

import time

import pytest
import structlog

from provisioner.services import nodes
from tests.api.booting import SAID, ticket_of
from tests.api.site import N1, Site


@pytest.mark.parametrize(
    ("path", "route"),
    [
        (f"/boot/ipxe?{SAID}", "/boot/ipxe"),
        (f"/boot/words?{SAID}&image={{image}}", "/boot/words"),
        ("/boot/uefi/x86_64.efi", "/boot/uefi/{arch}.efi"),
        ("/boot/{key}", "/boot/{key}"),
        ("/boot/{key}/boot.efi", "/boot/{key}/{file}.efi"),
    ],
)
def test_what_a_whole_hall_asks_at_once_is_no_news_and_an_error_is(site: Site, path: str, route: str) -> None:
    """10,000 servers that come up ask 40,000 times: the lines that matter would be lost among them."""
    ticket = ticket_of(site)
    key, path = ticket.key.reveal(), path.format(key=ticket.key.reveal(), image=ticket.image)
    said = entry(site, path)
    assert (said["log_level"], said["route"], said["status"]) == ("debug", route, 200)
    assert key not in str(said)
    if route in {"/boot/words", "/boot/{key}/{file}.efi"}:
        site.run(nodes.hold(site.service.world, N1, "a look", "anna"))
        refused = entry(site, path)
        assert (refused["log_level"], refused["status"] >= 400) == ("info", True)


def test_a_failure_that_an_initrd_reports_is_news(site: Site) -> None:
    token = ticket_of(site).token.reveal()
    with structlog.testing.capture_logs() as logs:
        headers = {"Authorization": f"Bearer {token}"}
        body = {"kind": "fetch", "detail": "no route"}
        assert site.request("POST", "/boot/failures", None, headers=headers, json=body).status_code == 204
        said = written(logs)
    assert (said["log_level"], said["route"]) == ("info", "/boot/failures")
    assert token not in str(said)


def entry(site: Site, path: str) -> structlog.typing.EventDict:
    """The line of one request."""
    with structlog.testing.capture_logs() as logs:
        site.request("GET", path, None)
        return written(logs)


def written(logs: list[structlog.typing.EventDict]) -> structlog.typing.EventDict:
    """The line is written after the answer has gone."""
    deadline = time.monotonic() + 10
    while not logs and time.monotonic() < deadline:
        time.sleep(0.01)
    (line,) = [one for one in logs if one["event"] == "request_answered"]
    return line
