"""Profiles over HTTP: asked about, and never kept."""

from typing import Any

import yaml

from provisioner.models.role import Role
from tests.api.promoting import post
from tests.api.site import Site
from tests.promotion.samples import PROFILES

RELEASE = {
    "name": "spring",
    "description": "x",
    "hardware_class": "hgx-h100-8gpu",
    "image": "agent-x86-64",
    "firmware": "hgx-h100-2025-1",
    "bios": "hgx-h100-gpu-pool",
    "burn_in": "line-quick",
}
CHILD = {"name": "ours", "description": "x", "root": "debian", "extends": ["gpu-r580"], "gpu": {"persistence": False}}


def ask(site: Site, verb: str, body: dict[str, Any]) -> tuple[int, Any]:
    response = post(site, f"/v1/profiles:{verb}", body, Role.TECHNICIAN)
    return response.status_code, response.json()


def test_what_is_wrong_is_told_at_once_with_its_place(site: Site) -> None:
    good = yaml.safe_load((PROFILES / "burnin" / "line-quick.yaml").read_text())
    assert ask(site, "validate", {"kind": "burnin", "document": good}) == (200, {"valid": True, "findings": []})
    bad = {**good, "colour": "red", "items": [{**good["items"][0], "deadline": "soon"}, *good["items"][1:]]}
    _, answer = ask(site, "validate", {"kind": "burnin", "document": bad})
    found = {one["pointer"]: one["detail"] for one in answer["findings"]}
    assert not answer["valid"]
    assert set(found) == {"#/colour", "#/items/0/deadline"}
    assert found["#/items/0/deadline"] == "is not a duration; write a number and a unit: 90s, 15m, 2h"


def test_an_image_is_read_with_what_it_inherits(site: Site) -> None:
    assert ask(site, "validate", {"kind": "images", "document": CHILD})[1]["findings"] == []
    status, answer = ask(site, "resolve", {"document": CHILD})
    assert (status, answer["name"], answer["content"]["gpu"]["persistence"]) == (200, "ours", False)
    assert answer["content"]["gpu"]["driver"]["branch"] == "580"
    _, parent = ask(site, "resolve", {"name": "gpu-r580"})
    assert parent["digest"] != answer["digest"]
    values = {one["field"]: one for one in ask(site, "explain", {"document": CHILD})[1]["values"]}
    assert values["gpu.persistence"]["where"] == "ours.yaml:1"
    assert values["gpu.driver.branch"]["where"].startswith("gpu-r580.yaml:")
    orphan = {**CHILD, "extends": ["gpu-r999"]}
    status, problem = ask(site, "resolve", {"document": orphan})
    assert (status, problem["errors"][0]["pointer"]) == (422, "#/document/extends/0")
    assert ask(site, "explain", {"name": "gpu-r999"})[0] == 404
    assert ask(site, "resolve", {"name": "gpu-base"})[0] == 422


def test_a_release_resolves_to_its_digest_and_is_not_kept(site: Site) -> None:
    _, by_name = ask(site, "resolve", {"kind": "releases", "name": "hgx-h100-2025-1"})
    _, written = ask(site, "resolve", {"kind": "releases", "document": RELEASE})
    assert written["digest"] == by_name["digest"]
    assert (written["name"], written["reasons"]) == ("spring", [])
    assert site.get("/v1/releases").json()["releases"] == []
    assert site.get("/v1/audit").json()["lines"] == []
    status, problem = ask(site, "resolve", {"kind": "releases", "document": {**RELEASE, "image": 580.1}})
    assert status == 422
    assert {one["pointer"] for one in problem["errors"]} == {"#/document/image"}
    status, problem = ask(site, "resolve", {"kind": "releases", "document": {**RELEASE, "bios": "none"}})
    assert (status, problem["errors"][0]["pointer"]) == (422, "#/document/bios")


def test_one_of_name_and_document_is_asked_about(site: Site) -> None:
    for body in ({}, {"name": "gpu-r580", "document": CHILD}, {"kind": "burnin", "name": "line-quick"}):
        assert ask(site, "resolve", body)[0] == 422
