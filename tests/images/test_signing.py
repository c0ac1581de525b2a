"""Signing boot programs with the site's own key: sbsign and sbverify do it, and say why not."""

import os
from pathlib import Path

import pytest

from images.boot_program.pe import archive_program, is_signed
from images.boot_program.signing import SigningError, SigningPair, sign, signed_by
from tests.images.programs import keys, need_tools

PROGRAM = archive_program("x86_64", [(".linux", b"archive")])


@pytest.fixture
def pair(tmp_path: Path) -> SigningPair:
    need_tools("sbsign", "sbverify")
    return keys(tmp_path / "keys")


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
def test_a_signed_program_is_signed_by_that_certificate_alone(arch: str, pair: SigningPair, tmp_path: Path) -> None:
    program = archive_program(arch, [(".linux", b"archive")])
    signed = sign(program, pair)
    other = keys(tmp_path / "other")
    assert (is_signed(program), is_signed(signed)) == (False, True)
    assert signed_by(signed, pair.certificate)
    assert not signed_by(signed, other.certificate)
    assert not signed_by(program, pair.certificate)


def test_one_changed_byte_breaks_the_signature(pair: SigningPair) -> None:
    signed = sign(PROGRAM, pair)
    at = signed.index(b"archive")
    assert not signed_by(signed[:at] + b"A" + signed[at + 1 :], pair.certificate)


def test_a_signature_of_somebody_else_stays(pair: SigningPair, tmp_path: Path) -> None:
    """A vendor's signature beside the site's: firmware takes either."""
    other = keys(tmp_path / "other")
    both = sign(sign(PROGRAM, other), pair)
    assert signed_by(both, pair.certificate)
    assert signed_by(both, other.certificate)


def test_what_is_no_program_is_signed_by_nobody(pair: SigningPair) -> None:
    assert not signed_by(b"#!ipxe\n", pair.certificate)


def test_key_and_certificate_belong_together(pair: SigningPair, tmp_path: Path) -> None:
    other = keys(tmp_path / "other")
    with pytest.raises(SigningError, match=r"other/db\.key and .*keys/db\.pem: the key is not that of"):
        sign(PROGRAM, SigningPair(other.key, pair.certificate))


def test_a_missing_key_is_named(pair: SigningPair, tmp_path: Path) -> None:
    with pytest.raises(SigningError, match=r"absent\.key: no such file; `firstlight boot keys` makes"):
        sign(PROGRAM, SigningPair(tmp_path / "absent.key", pair.certificate))


def test_a_file_that_is_no_key_is_named_and_not_shown(pair: SigningPair, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.key"
    wrong.write_text("hunter2\n")
    with pytest.raises(SigningError, match=r"sbsign cannot sign with .*wrong\.key") as refused:
        sign(PROGRAM, SigningPair(wrong, pair.certificate))
    assert "hunter2" not in str(refused.value)


def test_a_key_with_a_passphrase_fails_at_once(pair: SigningPair) -> None:
    """Nobody sits at the terminal of a service: sbsign must not wait there."""
    need_tools("openssl")
    locked = pair.key.with_name("locked.key")
    assert not os.system(f"openssl pkey -in {pair.key} -aes256 -passout pass:x -out {locked}")
    with pytest.raises(SigningError, match=r"locked\.key .*: the key has a passphrase"):
        sign(PROGRAM, SigningPair(locked, pair.certificate))


def test_a_missing_tool_is_named_with_its_package(pair: SigningPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SigningError, match="no sbsign here: apt install sbsigntool"):
        sign(PROGRAM, pair)


def test_what_was_signed_with_leaves_nothing_behind(
    pair: SigningPair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    sign(PROGRAM, pair)
    assert list(scratch.iterdir()) == []
