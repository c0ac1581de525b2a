"""Releases over HTTP: equal content is one release, and what does not go together is refused with every reason."""

from typing import Any

import pytest

from profiles.compat.load import load_facts
from profiles.release_check import check_release, refusals
from provisioner.models.role import Role
from tests.api.promoting import made, post
from tests.api.site import Site
from tests.promotion.samples import H100, NOW, a_release, shipped

WRITTEN = {
    "name": "spring",
    "hardware_class": H100,
    "image": "agent-x86-64",
    "firmware": "hgx-h100-2025-1",
    "bios": "hgx-h100-gpu-pool",
    "burn_in": "line-quick",
}


def refused(site: Site, body: dict[str, Any]) -> dict[str, str]:
    response = post(site, "/v1/releases", body)
    assert response.status_code == 422, response.text
    return {one["pointer"]: one["detail"] for one in response.json()["errors"]}


def test_equal_content_is_the_same_release_whatever_it_is_called(site: Site) -> None:
    one = post(site, "/v1/releases", {"profile": "hgx-h100-2025-1"})
    assert (one.status_code, one.json()["made_by"]) == (201, "image-owner")
    two = post(site, "/v1/releases", WRITTEN, Role.ADMIN)
    assert (two.status_code, two.json()["digest"]) == (200, one.json()["digest"])
    assert two.headers["Location"] == f"/v1/releases/{one.json()['digest']}"
    assert two.json()["name"] == "hgx-h100-2025-1", "it is the release that is there"
    bound = post(site, "/v1/releases", {**WRITTEN, "constraints": {"from_releases": [one.json()["digest"]]}})
    assert (bound.status_code, bound.json()["digest"] != one.json()["digest"]) == (201, True)
    assert bound.json()["name"] == "spring"
    lines = site.get("/v1/audit").json()["lines"]
    assert [(line["what"], line["subject"]) for line in lines] == [
        ("release.create", one.json()["digest"]),
        ("release.create", bound.json()["digest"]),
    ]


def test_a_release_shows_what_is_in_it_and_the_way_back(site: Site) -> None:
    digest = made(site)
    response = site.get(f"/v1/releases/{digest}")
    assert response.headers["ETag"] == f'"{digest}"'
    found = response.json()
    assert {"component": "bios", "version": "2.5"} in found["components"]
    assert found["reversibility"] == {"old_image_on_new_firmware": None, "firmware_downgrade": True, "one_way": []}
    assert site.get(f"/v1/releases/sha256:{'0' * 64}").status_code == 404


def test_every_refusal_comes_at_once_with_its_place(site: Site) -> None:
    body = {**WRITTEN, "image": "agent-arm64", "bios": "gb200-gpu-pool", "firmware": "gb200-2026-1"}
    found = refused(site, body)
    assert set(found) == {"#/image", "#/bios", "#/firmware"}
    assert found["#/image"] == "agent-arm64 is for arm64, hgx-h100-8gpu is x86_64"
    unknown = refused(site, {**WRITTEN, "image": "agent-x86-65", "burn_in": "line-quik"})
    assert 'did you mean "agent-x86-64"?' in unknown["#/image"]
    assert 'did you mean "line-quick"?' in unknown["#/burn_in"]
    assert set(refused(site, {"profile": "hgx"})) == {"#/profile"}
    nobody = {**WRITTEN, "constraints": {"from_releases": ["sha256:" + "0" * 64]}}
    assert "make it first" in refused(site, nobody)["#/constraints/from_releases"]
    assert "firstlight image build gpu-r580" in refused(site, {**WRITTEN, "image": "gpu-r580"})["#/image"]
    assert site.get("/v1/releases").json()["releases"] == []


@pytest.mark.parametrize("body", [{}, {"name": "spring"}, {"profile": "hgx-h100-2025-1", "image": "agent-x86-64"}])
def test_a_request_is_of_one_kind(site: Site, body: dict[str, str]) -> None:
    assert post(site, "/v1/releases", body).status_code == 422


def test_lists_are_pages(site: Site) -> None:
    digests = [made(site), made(site, firmware_downgrade=True), made(site, firmware_downgrade=False)]
    found, cursor = [], ""
    while True:
        page = site.get(f"/v1/releases?limit=1&hardware_class={H100}{cursor}").json()
        found += [one["digest"] for one in page["releases"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert found == digests[::-1]
    assert site.get("/v1/releases?hardware_class=gb200-compute-tray").json()["releases"] == []


class TestParts:
    """Driver, GPUs and hardware."""

    def reasons(self, image: str, release: str) -> list[str]:

        one = a_release(name=release).model_copy(update={"image": shipped().images[image]})
        return [reason.name for reason in refusals(check_release(one, load_facts(), NOW.date()))]

    @pytest.mark.parametrize(
        ("image", "release", "names"),
        [
            ("gpu-r580", "hgx-h100-2026-1", []),
            ("gpu-r580-gb200", "gb200-2026-1", []),
            ("gpu-r595", "hgx-b200-2026-1", ["other-gpus"]),
            ("gpu-r580", "gb200-2026-1", ["other-architecture", "other-gpus"]),
            ("gpu-r535-debian", "hpe-xl675d-2026-1", []),
        ],
    )
    def test_a_driver_fits_the_gpus_of_the_class(self, image: str, release: str, names: list[str]) -> None:
        """The GPUs of a class are named by globs: A100-SXM4 is an A100, and B200 is not GB200."""
        assert self.reasons(image, release) == names

    def test_every_shipped_release_goes_together(self) -> None:

        for name in shipped().releases:
            assert check_release(a_release(name=name), load_facts(), NOW.date()) == ()
