"""Sign programs of UEFI firmware with the site's own key, by the tools of Debian's sbsigntool."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from images.boot_program.pe import ProgramError, is_signed

__all__ = ["SigningError", "SigningPair", "is_signed", "sign", "signed_by"]

_PATIENCE_SECONDS = 120
_MEANINGS = {
    "PEM pass phrase": "the key has a passphrase, and nobody is there to type it; name a key without one",
    "does not match certificate": "the key is not that of the certificate; name two that were made together",
}
"""What OpenSSL says: what it means here."""


class SigningError(Exception):
    """The program could not be signed or looked at; the text names the file and a remedy."""


@dataclass(frozen=True, slots=True)
class SigningPair:
    """A private key (PEM, no passphrase) and its certificate (PEM). `firstlight boot keys` makes them."""

    key: Path
    certificate: Path


def sign(program: bytes, pair: SigningPair) -> bytes:
    """Return the program with a signature added. Signing again gives other bytes, as a signature holds its time.

    Raises SigningError, also when the key is not that of the certificate. The key is read by sbsign alone.
    """
    for path in (pair.key, pair.certificate):
        if not path.is_file():
            raise SigningError(f"{path}: no such file; `firstlight boot keys` makes keys and certificates")
    with tempfile.TemporaryDirectory(prefix="firstlight-sign-") as folder:  # only we may enter it
        bare, signed = Path(folder, "bare.efi"), Path(folder, "signed.efi")
        bare.write_bytes(program)
        ran = _run(["sbsign", "--key", pair.key, "--cert", pair.certificate, "--output", signed, bare])
        if ran.returncode != 0 or not signed.is_file():
            raise SigningError(f"sbsign cannot sign with {pair.key} and {pair.certificate}: {_why(ran)}")
        return signed.read_bytes()


def signed_by(program: bytes, certificate: Path) -> bool:
    """Say whether one signature of the program is right and made with the key of this certificate (PEM)."""
    try:
        if not is_signed(program):
            return False
    except ProgramError:
        return False
    if not certificate.is_file():
        raise SigningError(f"{certificate}: no such file")
    with tempfile.TemporaryDirectory(prefix="firstlight-sign-") as folder:
        path = Path(folder, "program.efi")
        path.write_bytes(program)
        return _run(["sbverify", "--cert", certificate, path]).returncode == 0


def _run(command: list[str | Path]) -> "subprocess.CompletedProcess[str]":
    """Run a tool without a terminal, so that it fails at once where it would ask for a passphrase."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,
            timeout=_PATIENCE_SECONDS,
        )
    except FileNotFoundError as error:
        raise SigningError(f"there is no {command[0]} here: apt install sbsigntool") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SigningError(f"{command[0]}: {error}") from error


def _why(ran: "subprocess.CompletedProcess[str]") -> str:
    said = ran.stderr + ran.stdout
    for words, meaning in _MEANINGS.items():
        if words in said:
            return meaning
    return next((line.strip() for line in said.splitlines() if line.strip()), f"exit status {ran.returncode}")
