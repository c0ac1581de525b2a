"""The words `firstlight.key=value` of the boot command line."""

from collections.abc import Iterable
from typing import NamedTuple

from images.agent.secret import Secret

REQUIRED = ("server", "token", "image")
_PREFIX = "firstlight."


class BootWords(NamedTuple):
    """What the boot service told this boot."""

    server: str
    token: Secret
    image: str
    boot_id: str


class BootWordsError(Exception):
    """The command line lacks a word; the message never holds a value."""


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
    )
