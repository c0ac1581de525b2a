"""`firstlight image lock` asks the mirrors that the site names, as a build does."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.commands.image import image_app
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import MirrorSite
from tests.profiles.image_files import IMAGES


@pytest.fixture
def words(site: MirrorSite, mirror: PackageMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A folder with a site.yaml, profiles and a keyring."""
    (tmp_path / "profiles" / "images").mkdir(parents=True)
    for name, text in IMAGES.items():
        (tmp_path / "profiles" / "images" / f"{name}.yaml").write_text(text)
    (tmp_path / "keys.gpg").write_bytes(site.signer.keyring.read_bytes())
    source = f"{{uri: '{mirror.url}', keyring: keys.gpg}}"
    (tmp_path / "site.yaml").write_text(f"name: s\ndata_dir: data\nmirrors: {{debian: [{source}]}}\n")
    monkeypatch.chdir(tmp_path)
    return ["lock", "plain", "--profiles", "profiles", "--date", "2026-11-30"]


def test_a_lock_comes_from_the_mirrors_of_the_site(words: list[str], site: MirrorSite, tmp_path: Path) -> None:
    result = CliRunner().invoke(image_app, [*words, "--json"])
    assert result.exit_code == 0, result.output
    lock = json.loads(result.stdout)
    assert lock["keys"] == [site.signer.fingerprint]
    assert "kmod" in {one["name"] for one in lock["packages"]}
    assert not list((tmp_path / "data" / "packages").rglob("*.deb")), "indices are fetched, no packages"
    again = CliRunner().invoke(image_app, words)
    assert again.stdout.splitlines()[-1].startswith("sha256:")


def test_a_mirror_that_is_not_there_is_told_and_exits_1(words: list[str], mirror: PackageMirror) -> None:
    (mirror.root / "dists" / "bookworm" / "InRelease").unlink()
    result = CliRunner().invoke(image_app, words)
    assert result.exit_code == 1
    assert f"mirror debian: {mirror.url}/dists/bookworm/InRelease answers 404" in result.stderr


def test_what_the_mirror_lacks_is_told_where_it_is_asked_for(words: list[str]) -> None:
    text = IMAGES["plain"] + "packages: {install: [{name: kmodd}]}\n"
    Path("profiles/images/plain.yaml").write_text(text)
    result = CliRunner().invoke(image_app, words)
    assert result.exit_code == 1
    told = 'plain.yaml:4: packages.install[0]: the package index has no kmodd; did you mean "kmod"?'
    assert told in " ".join(result.stdout.split())
