"""Channels over HTTP: nobody writes a pointer; a rollback takes the tag of what was seen."""

import pytest

from provisioner.models.role import Role
from tests.api.promoting import made, post, requested
from tests.api.site import Site
from tests.promotion.samples import H100

HERE = f"?hardware_class={H100}"


@pytest.fixture
def two(site: Site) -> tuple[str, str]:
    """Two releases that stood in dev, one after the other."""
    digests = made(site), made(site, firmware_downgrade=False)
    for digest in digests:
        assert requested(site, digest)["state"] == "applied"
    return digests


def back(site: Site, release: str, **headers: str) -> tuple[int, str]:
    body = {"release": release, "reason": "it is bad"}
    response = post(site, f"/v1/channels/dev:rollback{HERE}", body, Role.OPERATOR, headers=headers)
    return response.status_code, response.json().get("detail", response.json().get("release"))


def test_a_rollback_takes_the_tag_of_what_was_seen(site: Site, two: tuple[str, str]) -> None:
    old, new = two
    assert back(site, old)[0] == 428
    assert back(site, old, **{"If-Match": '"1"'})[0] == 412
    assert site.get(f"/v1/channels/dev{HERE}").json()["rollback_to"] == [old]
    assert back(site, old, **{"If-Match": '"2"'}) == (200, old)
    channel = site.get(f"/v1/channels/dev{HERE}")
    assert (channel.json()["release"], channel.headers["ETag"], channel.json()["rollback_to"]) == (old, '"3"', [])
    line = site.get("/v1/audit").json()["lines"][-1]
    assert (line["what"], line["subject"], line["before"], line["after"]) == (
        "channel.rollback",
        f"dev/{H100}",
        new,
        old,
    )


def test_a_rollback_goes_to_no_release_that_never_stood_there(site: Site, two: tuple[str, str]) -> None:
    other = made(site, old_image_on_new_firmware=True)
    status, told = back(site, other, **{"If-Match": '"2"'})
    assert (status, f"these are: {two[0]}" in told) == (409, True)
    assert back(site, two[0], **{"If-Match": '"2"'})[0] == 200
    status, told = back(site, two[1], **{"If-Match": '"3"'})
    assert (status, "none: nothing stood there before" in told) == (409, True)


def test_a_pointer_is_not_written(site: Site, two: tuple[str, str]) -> None:
    response = site.request("PUT", f"/v1/channels/dev{HERE}", Role.ADMIN, json={"release": two[0]})
    assert response.status_code == 405
    assert response.headers["Content-Type"] == "application/problem+json"


def test_channels_are_listed(site: Site, two: tuple[str, str]) -> None:
    (one,) = site.get("/v1/channels").json()["channels"]
    assert (one["channel"], one["hardware_class"], one["release"], one["revision"]) == ("dev", H100, two[1], 2)
