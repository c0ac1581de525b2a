"""What has to stay in a store, and what may go. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from images.digest import Digest


@dataclass(frozen=True, slots=True)
class Blob:
    """One file of the store. `wanted_at`: when it was last put, or pointed to."""

    digest: Digest
    size_bytes: int
    wanted_at: datetime


@dataclass(frozen=True, slots=True)
class Links:
    """What the manifests of a store say. `parts`: of each manifest. `about`: of each statement the image."""

    parts: Mapping[Digest, Collection[Digest]]
    about: Mapping[Digest, Digest]


def collectable(
    blobs: Iterable[Blob], links: Links, pinned: Collection[Digest], now: datetime, grace: timedelta
) -> tuple[Blob, ...]:
    """Return what may go, in the order of digests: not pinned, younger than `grace`, or reached from what is either.

    A manifest reaches its parts. An image that stays keeps what is said about it; a statement keeps no image.
    """
    known = {one.digest: one for one in blobs}
    young = {digest for digest, one in known.items() if now - one.wanted_at < grace}
    kept = _reached({*pinned, *young}, links)
    return tuple(known[digest] for digest in sorted(known.keys() - kept))


def _reached(roots: Iterable[Digest], links: Links) -> set[Digest]:
    said: dict[Digest, list[Digest]] = {}
    for statement, image in links.about.items():
        said.setdefault(image, []).append(statement)
    reached: set[Digest] = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += [*links.parts.get(one, ()), *said.get(one, ())]
    return reached
