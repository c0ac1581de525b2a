"""What an agent says of its host's firmware."""

from pathlib import Path

import pytest

from images.agent.host import secure_boot, tpm

EFI = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        (b"\6\0\0\0\1", "on"),
        (b"\6\0\0\0\0", "off"),
        (b"\6\0\0\0", "unknown"),
        (b"", "unknown"),
        (None, "unknown"),
    ],
)
def test_secure_boot_is_what_the_variable_says(tmp_path: Path, variable: bytes | None, said: str) -> None:
    path = tmp_path / EFI
    path.parent.mkdir(parents=True)
    if variable is not None:
        path.write_bytes(variable)
    assert secure_boot(tmp_path) == said


def test_the_version_of_a_tpm(tmp_path: Path) -> None:
    assert tpm(tmp_path) == "none"
    path = tmp_path / "sys/class/tpm/tpm0/tpm_version_major"
    path.parent.mkdir(parents=True)
    path.write_text("2\n")
    assert tpm(tmp_path) == "2"
