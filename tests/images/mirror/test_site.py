"""The mirrors that a site names."""

from pathlib import Path

import pytest

from provisioner.errors import BadInput
from provisioner.settings import load_site


def test_folders_and_keyrings_lie_beside_the_file_that_names_them(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(
        "name: s\n"
        "site_files: files\n"
        "mirrors:\n"
        "  debian: [{uri: 'http://one.example.test/debian', keyring: keys/debian.gpg}]\n"
        "  nvidia: [{folder: packages}, {folder: /srv/packages}]\n"
    )
    site = load_site(path)
    assert site.mirrors["debian"][0].keyring == tmp_path / "keys/debian.gpg"
    assert [one.folder for one in site.mirrors["nvidia"]] == [tmp_path / "packages", Path("/srv/packages")]
    assert site.site_files == tmp_path / "files"


def test_a_mirror_is_an_address_or_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("name: s\nmirrors: {nvidia: [{folder: packages, uri: 'http://one.example.test'}]}\n")
    with pytest.raises(BadInput, match=r"site\.yaml:2: mirrors\.nvidia\[0\]: needs one of uri and folder"):
        load_site(path)
