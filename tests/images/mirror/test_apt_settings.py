"""Mirrors are reached the way that apt on the host reaches them: apt.conf(5), apt_auth.conf(5)."""

import base64
from pathlib import Path

import pytest

from images.mirror.apt_settings import AptSettings, read_apt_settings
from images.mirror.errors import MirrorError
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import MirrorSite

ONE = "http://one.example.test/debian"


def passwords(apt_config: Path, text: str) -> Path:
    path = apt_config.parent / "etc" / "apt" / "auth.conf.d" / "site.conf"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_a_mirror_is_reached_through_the_proxy_of_apt(
    site: MirrorSite, mirror: PackageMirror, apt_config: Path
) -> None:
    """Sites put a caching proxy before all of their hosts; the name leads nowhere without it."""
    with apt_config.open("a") as file:
        file.write(f'Acquire::http::Proxy "{mirror.url}";\n')
    assert "kmod" in site.index(site.source("http://nowhere.invalid")).index


def test_options_for_one_host_come_before_those_for_all(apt_config: Path) -> None:
    lines = (
        'http::Proxy "http://all:3142"',
        'http::Proxy::one.example.test "DIRECT"',
        'https::Proxy::two "http://two:1"',
    )
    with apt_config.open("a") as file:
        file.writelines(f"Acquire::{line};\n" for line in lines)
    asked = (ONE, "http://other.example.test", "https://other.example.test", "https://two")
    found = read_apt_settings()
    assert [found.proxy(one) for one in asked] == [None, "http://all:3142", "http://all:3142", "http://two:1"]


def test_a_password_of_apt_is_used_where_it_belongs(site: MirrorSite, mirror: PackageMirror, apt_config: Path) -> None:
    """A machine without http:// is for https: a password does not travel in the clear by accident."""
    passwords(
        apt_config,
        f"machine {mirror.url}/dists login site password hush\n"
        "machine one.example.test/private login other password whisper\n",
    )
    mirror.authorization = f"Basic {base64.b64encode(b'site:hush').decode()}"
    assert "kmod" in site.index(site.source(mirror)).index
    found = read_apt_settings()
    assert found.authorization(f"{mirror.url}/pool/a.deb") is None
    assert found.authorization("http://one.example.test/private/a.deb") is None
    assert found.authorization("https://one.example.test/private/a.deb") is not None
    assert found.authorization("https://one.example.test/public/a.deb") is None
    assert found.authorization("https://me:mine@one.example.test/private/a.deb") is None
    assert "hush" not in repr(found)


def test_a_file_of_passwords_that_is_wrong_is_named_without_its_words(apt_config: Path) -> None:
    path = passwords(apt_config, "machine one.example.test login site password hush\nmashine two hush2\n")
    with pytest.raises(MirrorError) as caught:
        read_apt_settings()
    assert str(caught.value).startswith(f"{path}:")
    assert str(caught.value).endswith(": is not as apt_auth.conf(5) says; correct it")


def test_a_host_without_apt_has_no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_apt_settings() == AptSettings()
