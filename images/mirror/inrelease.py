"""What a suite announces: its InRelease file, fetched, verified and judged."""

import asyncio
import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from images.mirror.errors import MirrorError, shown
from images.mirror.patience import Patience
from images.mirror.release import Release, ReleaseError, check_release, parse_release
from images.mirror.signature import SignatureError, verify
from images.mirror.source import DEBIAN_KEYRING, Source
from images.mirror.transfer import InterruptedTransferError, RefusedTransferError, read_small
from images.mirror.web import Web

_LIMIT_BYTES = 2**24


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite of one source. `base`: what paths of packages are below, a URL or a folder of this host."""

    mirror: str
    source: Source
    name: str
    base: str

    @property
    def is_flat(self) -> bool:
        """Say whether the indices lie beside the Release, without components (sources.list(5))."""
        return self.name.endswith("/")

    @property
    def folder(self) -> str:
        """Return what the Release lies in, without a slash at the end."""
        return f"{self.base}/{self.name}".rstrip("/.") if self.is_flat else f"{self.base}/dists/{self.name}"

    def __str__(self) -> str:
        """Return the place for people."""
        return f"mirror {self.mirror}: {shown(self.folder)}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What it is held against. `keyring_sha256`: the keyring that the profile asks for, if it does."""

    now: datetime
    snapshot: datetime
    keyring_sha256: str | None


def suites_of(mirror: str, source: Source, suite: str) -> tuple[Suite, ...]:
    """Return what the source asks for, for an image of `suite`; raises MirrorError for an address that is none."""
    parts = urlsplit(source.uri or "")
    base = unquote(parts.path) if parts.scheme == "file" else source.uri or ""
    if parts.scheme not in ("http", "https", "file") or (parts.scheme != "file" and not parts.hostname):
        text = f"mirror {mirror}: {shown(source.uri or '')!r} is no address of a mirror; write http, https or file"
        raise MirrorError([text])
    named = (one.replace("{suite}", suite) for one in source.suites)
    return tuple(Suite(mirror, source, one, base.rstrip("/")) for one in named)


async def announced(
    web: Web, suite: Suite, judgement: Judgement, patience: Patience
) -> tuple[Release, tuple[str, ...]]:
    """Return the Release and the fingerprints of the keys that signed it; raises MirrorError."""
    origin = f"{suite.folder}/InRelease"
    keyring = suite.source.keyring or DEBIAN_KEYRING
    try:
        _check_keyring(keyring, judgement.keyring_sha256)
        signed = await asyncio.to_thread(verify, await _fetch(web, origin, patience), keyring)
        release = parse_release(signed.content.decode())
    except (SignatureError, ReleaseError) as error:
        raise MirrorError([f"{suite}/InRelease: {error}"]) from error
    except (InterruptedTransferError, RefusedTransferError) as error:
        remedy = "is the address right, and the suite there? see mirrors in site.yaml, or the host's apt sources"
        raise MirrorError([f"{suite}/InRelease {error}; {remedy}"]) from error
    except UnicodeDecodeError as error:
        raise MirrorError([f"{suite}/InRelease is no text; ask another mirror"]) from error
    if faults := list(check_release(release, suite.name, judgement.now, judgement.snapshot)):
        raise MirrorError(f"{suite}/InRelease: {fault}" for fault in faults)
    return release, signed.keys


async def _fetch(web: Web, origin: str, patience: Patience) -> bytes:
    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(patience.rounds),
        wait=wait_random_exponential(patience.pause.total_seconds(), 10),
        retry=retry_if_exception_type(InterruptedTransferError),
        reraise=True,
    ):
        with attempt:
            return await read_small(web, origin, _LIMIT_BYTES)
    raise AssertionError("the last attempt returns or raises")


def _check_keyring(keyring: Path, expected: str | None) -> None:
    if expected is None or not keyring.is_file():
        return
    actual = hashlib.sha256(keyring.read_bytes()).hexdigest()
    if actual != expected:
        text = f"{keyring} is sha256 {actual}; base.keyring_sha256 asks for {expected}: correct one of them"
        raise SignatureError(text)
