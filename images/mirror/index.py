"""What the mirrors of an image offer, by signed indices."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from images.mirror.cache import MirrorCache, disk_faults
from images.mirror.download import Report
from images.mirror.errors import MirrorError
from images.mirror.folder import read_folder
from images.mirror.host_sources import host_sources
from images.mirror.inrelease import Judgement, Suite, suites_of
from images.mirror.patience import USUAL, Patience
from images.mirror.source import Source, Sources
from images.mirror.suite_index import Offer, Request, SuiteReader
from images.mirror.web import open_web
from profiles.findings import did_you_mean
from profiles.images.debian import DebianImage
from profiles.images.package_index import Package, PackageIndex, package_index
from profiles.images.resolve import DEBIAN_ARCH

HOST = "debian"
"""The mirror that is the build host's own apt sources where the site says nothing else."""

Origins = Mapping[str, tuple[str, ...]]
"""By sha256, where a package can be had: URLs (they may hold a password: `shown` leaves it out), or paths."""

_PLAIN = re.compile(r"[A-Za-z0-9/._+~-]*")


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """`keys`: fingerprints of the keys that signed it, sorted; `notes`: what a person should know all the same."""

    index: PackageIndex
    origins: Origins
    keys: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """How mirrors are asked. `now`: the time that an index is judged by, the present where absent."""

    patience: Patience = USUAL
    report: Report = lambda _done, _total, _name: None
    now: datetime | None = None


AS_USUAL = Asking()


def fetch_index(image: DebianImage, sources: Sources, cache: Path, asking: Asking = AS_USUAL) -> FetchedIndex:
    """Return everything that the mirrors which the image names offer for its suite and architecture.

    Every index is verified: the signature of its Release, its own digest, that it is the suite that was asked for, and
    that it is valid, now or at the snapshot of the image. Where two sources of a mirror have one suite, one is enough.
    Raises MirrorError with all reasons.
    """
    places = MirrorCache(cache)
    offered: list[tuple[Package, str]] = []
    suites: list[tuple[Suite, Request]] = []
    with disk_faults(cache):
        for mirror, source in _sources(image, sources):
            if source.folder is not None:
                offered += read_folder(source.folder, places)
            else:
                request = _request(image, source, is_base=mirror == image.base.mirror, now=asking.now)
                suites += [(suite, request) for suite in suites_of(mirror, source, image.base.suite)]
        with places.alone("indices"):
            offers, notes = asyncio.run(_read_all(suites, places, asking))
    _check_components(suites, offers)
    offered += chain.from_iterable(_with_origins(offer) for offer in offers)
    keys = sorted({key for offer in offers for key in offer.keys})
    return FetchedIndex(package_index(one for one, _ in offered), _origins(offered), tuple(keys), notes)


def _sources(image: DebianImage, sources: Sources) -> Iterator[tuple[str, Source]]:
    """Yield the sources of the distribution's mirror, and of the one that has the driver."""
    named = {image.base.mirror: "base.mirror"}
    if image.gpu and image.gpu.packages.mirror:
        named.setdefault(image.gpu.packages.mirror, "gpu.packages.mirror")
    for mirror, field in named.items():
        if mirror in sources:
            found = sources[mirror]
        elif mirror == HOST:
            found = host_sources(image.base.suite)
        else:
            hint = did_you_mean(mirror, sources) or f"add mirrors: {{{mirror}: [{{uri: ...}}]}}"
            raise MirrorError([f'{image.name}: {field}: site.yaml has no mirror "{mirror}"; {hint}'])
        yield from ((mirror, source) for source in found)


def _request(image: DebianImage, source: Source, *, is_base: bool, now: datetime | None) -> Request:
    judgement = Judgement(
        now=now or datetime.now(UTC),
        snapshot=datetime.fromisoformat(image.base.snapshot),
        keyring_sha256=image.base.keyring_sha256 if is_base else None,
    )
    components = source.components or (image.base.components if is_base else None)
    return Request(DEBIAN_ARCH[image.arch], components, judgement)


async def _read_all(
    suites: list[tuple[Suite, Request]], places: MirrorCache, asking: Asking
) -> tuple[list[Offer], tuple[str, ...]]:
    async with open_web(asking.patience) as web:
        reader = SuiteReader(web, places, asking.patience, asking.report)
        found = await asyncio.gather(*(reader.read(*one) for one in suites), return_exceptions=True)
    offers: list[Offer] = []
    failed: list[tuple[Suite, MirrorError]] = []
    for (suite, _), one in zip(suites, found, strict=True):
        if isinstance(one, Offer):
            offers.append(one)
        elif isinstance(one, MirrorError):
            failed.append((suite, one))
        else:
            raise one
    there = {_stand_in(offer.suite) for offer in offers}
    reasons = [reason for suite, error in failed if _stand_in(suite) not in there for reason in error.reasons]
    if reasons:
        raise MirrorError(reasons)
    return offers, tuple(f"{reason}; another mirror has it" for _, error in failed for reason in error.reasons)


def _stand_in(suite: Suite) -> tuple[str, str]:
    """Two suites with equal ones hold the same; flat repositories are called `/`, all of them."""
    return suite.mirror, suite.folder if suite.is_flat else suite.name


def _check_components(suites: list[tuple[Suite, Request]], offers: list[Offer]) -> None:
    """A suite may lack a component that another suite of the mirror has."""
    has: dict[str, set[str]] = {}
    for offer in offers:
        has.setdefault(offer.suite.mirror, set()).update(offer.components)
    wanted = {(suite.mirror, one) for suite, request in suites if not suite.is_flat for one in request.components or ()}
    missing = [(mirror, one, has.get(mirror, set())) for mirror, one in sorted(wanted)]
    reasons = [
        f'mirror {mirror}: has no component "{one}"; {did_you_mean(one, known)}'
        for mirror, one, known in missing
        if one not in known
    ]
    if reasons:
        raise MirrorError(reasons)


def _with_origins(offer: Offer) -> Iterator[tuple[Package, str]]:
    base = offer.suite.base
    is_url = "://" in base
    for package in offer.packages:
        path = package.filename.removeprefix("./")
        plain = not is_url or _PLAIN.fullmatch(path)
        yield package, f"{base}/{path if plain else quote(path)}"


def _origins(offered: Iterable[tuple[Package, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for package, origin in offered:
        before = found.get(package.sha256, ())
        if origin not in before:
            found[package.sha256] = (*before, origin)
    return found
