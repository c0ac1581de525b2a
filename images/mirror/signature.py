"""Is this what the publisher signed? gpgv judges; the signed text is taken from what it read, never from the file."""

import base64
import binascii
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_ARMOUR = re.compile(rb"-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(.*?)-----END PGP PUBLIC KEY BLOCK-----", re.DOTALL)


class SignatureError(ValueError):
    """The signature is not good, or cannot be judged; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Signed:
    """`keys`: fingerprints of the primary keys of every good signature, sorted."""

    content: bytes
    keys: tuple[str, ...]


def verify(document: bytes, keyring: Path) -> Signed:
    """Return the text of a clear-signed document with one good signature or more, and none that is bad.

    Signatures by keys that the keyring lacks do not count: publishers sign with the next key beside the present one.
    """
    with tempfile.TemporaryDirectory(prefix="firstlight-gpgv-") as folder:
        signed, keys, content = (Path(folder) / name for name in ("signed", "keys.gpg", "content"))
        signed.write_bytes(document)
        keys.write_bytes(_binary_keys(keyring))
        command = ["gpgv", "--homedir", folder, "--keyring", str(keys), "--weak-digest", "SHA1"]
        command += ["--status-fd", "1", "--output", str(content), str(signed)]
        status = _run(command)
        fingerprints = _judge(status, keyring)
        return Signed(content.read_bytes(), fingerprints)


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=60).stdout.decode(errors="replace")
    except FileNotFoundError as error:
        raise SignatureError("gpgv is not installed; install the package gpgv") from error


_REMEDIES = {
    "EXPSIG": "the mirror is old: ask another mirror",
    "EXPKEYSIG": "the key has expired: update the keyring",
    "REVKEYSIG": "the key was withdrawn: ask the publisher",
}


def _judge(status: str, keyring: Path) -> tuple[str, ...]:
    """Read gpgv's status lines (GnuPG, doc/DETAILS): VALIDSIG follows the verdict that it belongs to."""
    good: set[str] = set()
    faults: list[str] = []
    unknown: list[str] = []
    verdict = ""
    for word, *more in (line.split()[1:] for line in status.splitlines() if line.startswith("[GNUPG:] ")):
        if word == "BADSIG":
            raise SignatureError(f"it was changed after {more[0]} signed it; ask another mirror")
        if word in ("GOODSIG", *_REMEDIES):
            verdict = word
        if word in _REMEDIES:
            faults.append(f"the signature by {more[0]} is not good ({word}); {_REMEDIES[word]}")
        elif word == "VALIDSIG" and verdict == "GOODSIG":
            good.add(more[9] if len(more) > 9 else more[0])
        elif word == "NO_PUBKEY":
            unknown.append(more[0])
    if not good:
        raise SignatureError(_why(faults, unknown, keyring))
    return tuple(sorted(good))


def _why(faults: list[str], unknown: list[str], keyring: Path) -> str:
    if faults:
        return faults[0]
    if unknown:
        return f"{keyring} lacks the keys that signed it ({', '.join(unknown)}); name the publisher's keyring"
    return "it has no signature; the address may lead to a page of something else"


def _binary_keys(keyring: Path) -> bytes:
    """Return the keys as gpgv reads them; it does not read armoured ones."""
    try:
        content = keyring.read_bytes()
        blocks = _ARMOUR.findall(content)
        return b"".join(map(_dearmoured, blocks)) if blocks else content
    except OSError as error:
        raise SignatureError(f"{keyring}: {error.strerror}; name a keyring that is there") from error
    except binascii.Error as error:
        raise SignatureError(f"{keyring} is damaged: {error}; fetch it again") from error


def _dearmoured(block: bytes) -> bytes:
    """Headers end with an empty line; a line that starts with `=` is a checksum (RFC 9580 section 6.2)."""
    lines = block.replace(b"\r", b"").split(b"\n\n", 1)[-1].split(b"\n")
    return base64.b64decode(b"".join(line for line in lines if not line.startswith(b"=")))
