"""The keys of a site that kernel modules are signed with."""

from pathlib import Path

from provisioner.settings import load_site


def test_keys_are_named_by_the_site_and_lie_beside_its_file(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("name: s\nsigning_keys:\n  modules: {key: keys/m.key, certificate: /etc/keys/m.crt}\n")
    key = load_site(path).signing_keys["modules"]
    assert (key.key, key.certificate) == (tmp_path / "keys/m.key", Path("/etc/keys/m.crt"))
