"""Whose word an index rests on: gpgv and real keys."""

from dataclasses import replace
from pathlib import Path

import pytest

from images.mirror.errors import MirrorError
from tests.images.mirror.apt_repository import Signer, Suite
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import MirrorSite, in_release


def test_the_right_keyring_is_asked_for(site: MirrorSite, mirror: PackageMirror, tmp_path: Path) -> None:
    source = site.source(mirror)
    assert "kmod" in site.index(replace(source, keyring=site.signer.armoured)).index
    with pytest.raises(MirrorError, match=r"lacks the keys that signed it \([0-9A-F]{16}\); name the publisher's keyr"):
        site.index(replace(source, keyring=None))
    with pytest.raises(MirrorError, match=r"absent\.gpg: No such file or directory; name a keyring that is there"):
        site.index(replace(source, keyring=tmp_path / "absent.gpg"))
    pinned = site.image.base.model_copy(update={"keyring_sha256": "0" * 64})
    site.image = site.image.model_copy(update={"base": pinned})
    with pytest.raises(MirrorError, match=r"keys.gpg is sha256 [0-9a-f]{64}; base.keyring_sha256 asks for 0000"):
        site.index(source)


def test_a_key_that_signs_beside_the_known_one_does_not_matter(
    site: MirrorSite, mirror: PackageMirror, tmp_path: Path
) -> None:
    """Debian signs with the next release's key before hosts have it; a bare unknown signature is not enough."""
    signer = Signer(tmp_path / "publisher", next_keys=1)
    try:
        Suite().write(site.root, site.debs.glob("*.deb"), signer)
        fetched = site.index(site.source(mirror, keyring=signer.keyring))
    finally:
        signer.close()
    assert fetched.keys == (signer.fingerprint,)


def test_only_what_was_signed_is_read(site: MirrorSite, mirror: PackageMirror) -> None:
    """Text around the signed block is an old way to slip something in."""
    signed = in_release(site).read_text()
    lie = (
        "Codename: bookworm\nDate: Sat, 28 Nov 2026 00:00:00 UTC\nSHA256:\n "
        + "0" * 64
        + " 10 main/binary-amd64/Packages\n"
    )
    in_release(site).write_text(f"{lie}\n{signed}\n{lie}")
    assert "kmod" in site.index(site.source(mirror)).index


def test_a_key_that_has_expired_is_not_believed(site: MirrorSite, mirror: PackageMirror, tmp_path: Path) -> None:
    signer = Signer(tmp_path / "publisher", at="20200101T000000")
    try:
        Suite().write(site.root, site.debs.glob("*.deb"), signer)
        with pytest.raises(MirrorError, match=r"is not good \(EXPKEYSIG\); the key has expired: update the keyring"):
            site.index(site.source(mirror, keyring=signer.keyring))
    finally:
        signer.close()
