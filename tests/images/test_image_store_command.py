"""`firstlight image list --stored|pins|hold|release-hold|gc` as a person sees them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from images.build import build_image
from images.references import Reference, write_reference
from images.store import ArtefactStore
from profiles.loader import SHIPPED, load_catalog
from provisioner.commands.image import image_app
from provisioner.errors import BadInput
from tests.images.oci_samples import is_whole, published


def run(data_dir: Path, *words: str) -> str:
    """What it prints. Raises what it raises."""
    result = CliRunner().invoke(image_app, [*words, "--data-dir", str(data_dir)], catch_exceptions=True)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def store(tmp_path: Path) -> ArtefactStore:
    return ArtefactStore(tmp_path / "artefacts")


def test_a_hold_keeps_an_image_until_it_is_released(store: ArtefactStore, tmp_path: Path) -> None:
    image = published(store, "a")
    held = run(tmp_path, "hold", image.digest[:20], "--reason", "an incident", "--name", "case-7")
    assert held == f"{image.digest}: held (case-7)\n"
    assert "hold case-7" in run(tmp_path, "list", "--stored")
    (line,) = [one for one in run(tmp_path, "pins", image.digest).splitlines() if "case-7" in one]
    assert "an incident" in line
    assert "0 images, 0 files" in run(tmp_path, "gc", "--grace", "0")
    released = run(tmp_path, "release-hold", image.digest, "--reason", "it is over", "--name", "case-7")
    assert "who still holds it: nobody" in released
    assert is_whole(store, image)
    assert "nobody holds it" in run(tmp_path, "pins", image.digest)
    assert "1 images, 5 files" in run(tmp_path, "gc", "--grace", "0", "--dry-run")
    assert is_whole(store, image)
    assert f"image small {image.digest}\n1 images, 5 files" in run(tmp_path, "gc", "--grace", "0")
    assert json.loads(run(tmp_path, "list", "--stored", "--json")) == []


def test_what_was_wanted_today_stays_without_being_asked(store: ArtefactStore, tmp_path: Path) -> None:
    image = published(store, "a")
    assert json.loads(run(tmp_path, "gc", "--json"))["images"] == []
    assert is_whole(store, image)


def test_the_newest_of_a_name_is_held_and_found_by_it(store: ArtefactStore, tmp_path: Path) -> None:
    older, newer = published(store, "a"), published(store, "b")
    write_reference(tmp_path, Reference("small", newer.digest, "p", "l", "k", "2026-01-01"))
    assert [one["kind"] for one in json.loads(run(tmp_path, "pins", "small", "--json"))] == ["name"]
    stored = {one["digest"]: one["pins"] for one in json.loads(run(tmp_path, "list", "--stored", "--json"))}
    assert stored == {older.digest: [], newer.digest: ["name small"]}
    went = json.loads(run(tmp_path, "gc", "--grace", "0", "--json"))
    assert [one["digest"] for one in went["images"]] == [older.digest]
    assert is_whole(store, newer)


def test_firmware_that_the_profiles_name_is_never_collected(store: ArtefactStore, tmp_path: Path) -> None:
    """Such files are packages, whose content nobody can make; this one only has the name of one."""
    bundle = next(one for one in load_catalog(SHIPPED).firmware_bundles.values() if one.components)
    published(store, "a")
    package = store.blobs / bundle.components[0].artefact.sha256
    package.write_bytes(b"firmware")
    assert "1 images" in run(tmp_path, "gc", "--grace", "0")
    assert package.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pins", "nothing"], "no image in .* has this name or digest"),
        (["hold", "sha256:" + "0" * 64, "--reason", "x"], "not in"),
        (["hold", "small", "--reason", " "], "--reason: say why"),
        (["hold", "small", "--reason", "x", "--name", "../x"], "a holder is named with"),
        (["release-hold", "small", "--reason", "x"], "hold legal does not hold it; who does: nobody"),
    ],
)
def test_what_cannot_be_is_told(store: ArtefactStore, tmp_path: Path, words: list[str], told: str) -> None:
    published(store, "a")
    with pytest.raises(BadInput, match=told):
        run(tmp_path, *words)


def test_nothing_is_collected_where_it_cannot_be_seen_what_holds_it(store: ArtefactStore, tmp_path: Path) -> None:
    """Where a service has run, its database and its profiles say it too."""
    image = published(store, "a")
    (tmp_path / "admin-token").write_text("x")
    with pytest.raises(BadInput, match=r"a service has run here; name its site\.yaml with --config"):
        run(tmp_path, "gc", "--grace", "0")
    site = tmp_path / "site.yaml"
    site.write_text("name: lab\ndata_dir: elsewhere\n")
    with pytest.raises(BadInput, match=r"site\.yaml is of .*elsewhere; leave --data-dir out"):
        run(tmp_path, "gc", "--grace", "0", "--config", str(site))
    assert is_whole(store, image)
    site.write_text("name: lab\ndata_dir: .\n")
    assert "1 images" in run(tmp_path, "gc", "--grace", "0", "--config", str(site))


def test_the_agent_that_a_service_has_in_mind_stays(store: ArtefactStore, tmp_path: Path) -> None:
    """It is made at the start of the service, and no file names it; an older one under its name goes."""
    agent = build_image("agent-x86-64", "x86_64", store)
    older = build_image("agent-x86-64", "arm64", store)
    assert build_image("agent-x86-64", "x86_64", store) == agent
    went = json.loads(run(tmp_path, "gc", "--grace", "0", "--json"))
    assert [one["digest"] for one in went["images"]] == [older.digest]
    assert is_whole(store, agent)
