"""The words `firstlight.key=value` of this boot: from the initrd's file, or from the boot command line."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from images.agent.secret import Secret

REQUIRED = ("server", "token", "image")
FILE = Path("/run/firstlight/boot-words")
COMMAND_LINE = Path("/proc/cmdline")
_PREFIX = "firstlight."
_VERIFIED = f"{_PREFIX}verified="


class BootWords(NamedTuple):
    """What the boot service told this boot. `verified_root`: digest of the root that the initrd checked, or nothing."""

    server: str
    token: Secret
    image: str
    boot_id: str
    verified_root: str = ""


class BootWordsError(Exception):
    """A word is missing, or the words cannot be read; the message never holds a value."""


def read_boot_words(file: Path = FILE, command_line: Path = COMMAND_LINE) -> list[str]:
    """Return the words that the initrd left, else those of the kernel; raise BootWordsError.

    A root is verified because the initrd says so, never because the command line does.
    """
    try:
        return file.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        words = command_line.read_text(encoding="utf-8").split()
        return [word for word in words if not word.startswith(_VERIFIED)]
    except OSError as error:
        raise BootWordsError(f"cannot read {file}: {error.strerror}") from error


def parse_boot_words(words: Iterable[str], kernel_boot_id: str) -> BootWords:
    """Return the words; others are ignored, the last of two wins, as the kernel does it."""
    found = dict(word.removeprefix(_PREFIX).split("=", 1) for word in words if word.startswith(_PREFIX) and "=" in word)
    missing = [f"{_PREFIX}{key}" for key in REQUIRED if not found.get(key)]
    if missing:
        raise BootWordsError(f"the boot command line lacks {', '.join(missing)}")
    if not found["server"].startswith(("http://", "https://")):
        raise BootWordsError(f"{_PREFIX}server is not an http:// or https:// address")
    return BootWords(
        server=found["server"].rstrip("/"),
        token=Secret(found["token"]),
        image=found["image"],
        boot_id=found.get("boot_id") or kernel_boot_id,
        verified_root=found.get("root", "") if found.get("verified") == "1" else "",
    )
