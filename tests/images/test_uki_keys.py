"""`firstlight boot keys`: a site's own Secure Boot keys, and what firmware enrols them from."""

import os
import stat
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from typer.testing import CliRunner, Result

from images.boot_program.ovmf_variables import VariablesError, with_keys
from images.boot_program.secure_boot_keys import KeysExistError, make_keys, write_keys
from provisioner.commands.boot import boot_app
from provisioner.errors import BadInput
from tests.images.firmware import EMPTY_VARIABLES
from tests.images.programs import MADE_AT, need_tools
from tests.requirements import need

NAMES = ("PK", "KEK", "db")


@pytest.fixture
def run() -> Callable[..., Result]:
    return lambda *words: CliRunner().invoke(boot_app, ["keys", *words])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "keys"
    write_keys(make_keys("Test site", MADE_AT), folder, {})
    return folder


def test_private_keys_are_for_their_owner_alone(tmp_path: Path, run: Callable[..., Result]) -> None:
    before = os.umask(0)
    try:
        assert run(str(tmp_path / "keys")).exit_code == 0
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "keys").iterdir()}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert {name: mode for name, mode in modes.items() if name.endswith(".key")} == {
        f"{one}.key": 0o600 for one in NAMES
    }
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


def test_it_says_what_to_do_next(tmp_path: Path, run: Callable[..., Result]) -> None:
    folder = tmp_path / "keys"
    said = run(str(folder), "--site", "berlin-1").output
    assert f"sign: {{key: {folder}/db.key, certificate: {folder}/db.pem}}" in said
    assert "Keep PK.key and KEK.key offline" in said
    assert "SecureBootDatabases" in said
    certificate = x509.load_pem_x509_certificate((folder / "db.pem").read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=berlin-1 Secure Boot db"
    assert "PRIVATE" not in said


@pytest.mark.parametrize("name", NAMES)
def test_key_and_certificate_belong_together(name: str, made: Path) -> None:
    key = load_pem_private_key((made / f"{name}.key").read_bytes(), password=None)
    certificate = x509.load_pem_x509_certificate((made / f"{name}.pem").read_bytes())
    assert key.public_key() == certificate.public_key()
    assert certificate == x509.load_der_x509_certificate((made / f"{name}.cer").read_bytes())
    assert certificate.not_valid_after_utc > MADE_AT + timedelta(days=365 * 10)
    certificate.verify_directly_issued_by(certificate)


@pytest.mark.parametrize("name", NAMES)
def test_signature_lists_are_those_of_efitools(name: str, made: Path, tmp_path: Path) -> None:
    need_tools("cert-to-efi-sig-list")
    owner = (made / "owner.txt").read_text().strip()
    subprocess.run(["cert-to-efi-sig-list", "-g", owner, made / f"{name}.pem", tmp_path / "list"], check=True)
    assert (made / f"{name}.esl").read_bytes() == (tmp_path / "list").read_bytes()


@pytest.mark.parametrize(("name", "signer"), [("PK", "PK"), ("KEK", "PK"), ("db", "KEK")])
def test_signed_updates_are_those_of_efitools(
    name: str, signer: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature is RSA with PKCS #1 v1.5 padding, which has no random part: equal input, equal bytes."""
    need_tools("sign-efi-sig-list")
    monkeypatch.setenv("TZ", "UTC")
    by = ["-k", f"{made}/{signer}.key", "-c", f"{made}/{signer}.pem", "-t", f"{MADE_AT:%Y-%m-%d %H:%M:%S}"]
    subprocess.run(["sign-efi-sig-list", *by, name, made / f"{name}.esl", tmp_path / "update"], check=True)
    assert (made / f"{name}.auth").read_bytes() == (tmp_path / "update").read_bytes()


def test_keys_are_never_overwritten(made: Path, run: Callable[..., Result]) -> None:
    before = {path: path.read_bytes() for path in made.iterdir()}
    refused = run(str(made))
    assert isinstance(refused.exception, BadInput)
    assert "is not empty: keys are never overwritten; name a new folder" in str(refused.exception)
    assert {path: path.read_bytes() for path in made.iterdir()} == before
    assert [path.name for path in made.parent.iterdir()] == ["keys"]


def test_an_empty_folder_is_taken_and_closed(tmp_path: Path, run: Callable[..., Result]) -> None:
    (tmp_path / "keys").mkdir(mode=0o755)
    assert run(str(tmp_path / "keys")).exit_code == 0
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_a_file_in_the_place_of_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("mine")
    with pytest.raises(KeysExistError):
        write_keys(make_keys("x", MADE_AT), tmp_path / "keys", {})
    assert (tmp_path / "keys").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, run: Callable[..., Result]) -> None:
    (tmp_path / "file").write_text("")
    refused = run(str(tmp_path / "file" / "keys"))
    assert isinstance(refused.exception, BadInput)
    assert "file" in str(refused.exception)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too short for a variables file"),
        (bytes(4096), "no variables file of OVMF or AAVMF"),
    ],
)
def test_a_template_that_is_none_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    template = tmp_path / "VARS.fd"
    template.write_bytes(content)
    refused = CliRunner().invoke(boot_app, ["keys", str(tmp_path / "keys"), "--ovmf", str(template)])
    assert isinstance(refused.exception, BadInput)
    assert reason in str(refused.exception)
    assert "--ovmf names another one" in str(refused.exception)
    assert not (tmp_path / "keys").exists()


def test_a_template_with_variables_is_refused() -> None:
    """Keys behind somebody else's would not be the ones that count."""
    need(EMPTY_VARIABLES.is_file(), "ovmf is not installed")
    lists = make_keys("x", MADE_AT).lists
    once = with_keys(EMPTY_VARIABLES.read_bytes(), lists, MADE_AT)
    assert len(once) == EMPTY_VARIABLES.stat().st_size
    with pytest.raises(VariablesError, match="holds variables already: name the empty one"):
        with_keys(once, lists, MADE_AT)
