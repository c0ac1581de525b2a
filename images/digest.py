"""Content addresses."""

import hashlib
import re
from typing import NewType

Digest = NewType("Digest", str)
"""Always `sha256:` and 64 lower-case hex digits, so that it is safe inside a path or a URL."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


class DigestError(ValueError):
    """The text is not a digest."""


def parse_digest(text: str) -> Digest:
    """Return the text as a digest; raise DigestError for anything but `sha256:<64 lower-case hex digits>`."""
    if not _DIGEST.fullmatch(text):
        raise DigestError(f"{text[:80]!r} is not sha256: and 64 lower-case hex digits")
    return Digest(text)


def digest_of(content: bytes) -> Digest:
    """Return the digest of the bytes."""
    return Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")


def hex_of(digest: Digest) -> str:
    """Return the 64 hex digits."""
    return digest.removeprefix("sha256:")
