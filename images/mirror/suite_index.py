"""The packages of one suite, each index by the digest that the signed Release names."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from images.mirror.cache import MirrorCache
from images.mirror.download import Downloads, Report, Wanted
from images.mirror.errors import MirrorError
from images.mirror.inrelease import Judgement, Suite, announced
from images.mirror.packages_file import PackagesFileError, keep, kept, parse, unpack
from images.mirror.patience import Patience
from images.mirror.release import IndexFile, Release
from images.mirror.web import Web
from profiles.images.package_index import Package


@dataclass(frozen=True, slots=True)
class Offer:
    """What a suite has. `components`: those that it has at all, whether they were asked for or not."""

    suite: Suite
    packages: tuple[Package, ...] = field(repr=False)  # asyncio shows results to itself: a second for all of Debian
    keys: tuple[str, ...]
    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a suite. `components` None: all that it has."""

    arch: str
    components: tuple[str, ...] | None
    judgement: Judgement


class SuiteReader:
    """Reads suites of one image; an index that was read before is not fetched again."""

    def __init__(self, web: Web, cache: MirrorCache, patience: Patience, report: Report) -> None:
        """Nothing is fetched yet."""
        self._web, self._cache, self._patience, self._report = web, cache, patience, report
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # two mirrors may have one index

    async def read(self, suite: Suite, request: Request) -> Offer:
        """Return what the suite has for the architecture; raises MirrorError.

        A mirror may be in the middle of an update: where its files do not match, all is asked once more.
        """
        try:
            return await self._read(suite, request)
        except _MismatchError:
            await asyncio.sleep(self._patience.pause.total_seconds())
            return await self._read(suite, request)

    async def _read(self, suite: Suite, request: Request) -> Offer:
        release, keys = await announced(self._web, suite, request.judgement, self._patience)
        packages: list[Package] = []
        for path in _indices(suite, release, request):
            found = release.smallest(path)
            if found is not None:
                packages.extend(await self._packages(suite, release, *found))
        return Offer(suite, tuple(packages), keys, release.components())

    async def _packages(
        self, suite: Suite, release: Release, packed: IndexFile, plain: IndexFile
    ) -> tuple[Package, ...]:
        async with self._locks[packed.sha256]:
            return await self._kept_or_fetched(suite, release, packed, plain)

    async def _kept_or_fetched(
        self, suite: Suite, release: Release, packed: IndexFile, plain: IndexFile
    ) -> tuple[Package, ...]:
        place = self._cache.index(packed.sha256)
        packages = await asyncio.to_thread(kept, place)
        if packages is None:
            content = await self._fetch(suite, release, packed)
            try:
                packages = parse(unpack(content, packed.path, plain), packed.path)
            except PackagesFileError as error:
                raise MirrorError([f"{suite}: {error}; ask another mirror"]) from error
            await asyncio.to_thread(keep, place, packages)
        return packages

    async def _fetch(self, suite: Suite, release: Release, packed: IndexFile) -> bytes:
        """By-hash comes first: it stays right while the mirror changes (wiki.debian.org/DebianRepository/Format)."""
        origins = [f"{suite.folder}/{packed.path}"]
        if release.by_hash:
            folder = origins[0].rpartition("/")[0]
            origins.insert(0, f"{folder}/by-hash/SHA256/{packed.sha256}")
        part = self._cache.part(packed.sha256)
        place = part.with_suffix(".index")
        name = f"{suite.name} {packed.path}"
        wanted = Wanted(name, packed.sha256, packed.size_bytes, tuple(origins), part, place, "name another mirror")
        try:
            await Downloads(self._web, self._patience, self._report).fetch([wanted])
        except MirrorError as error:
            raise _MismatchError(f"mirror {suite.mirror}: {reason}" for reason in error.reasons) from error
        try:
            return place.read_bytes()
        finally:
            place.unlink(missing_ok=True)


class _MismatchError(MirrorError):
    """The Release and the files beside it do not fit, or not yet."""


def _indices(suite: Suite, release: Release, request: Request) -> Iterator[str]:
    if suite.is_flat:
        yield "Packages"
        return
    arches = [request.arch, *(["all"] if release.all_apart else [])]
    if request.arch not in release.architectures():
        has = ", ".join(release.architectures()) or "none"
        raise MirrorError([f"{suite}: has nothing for {request.arch} (it has {has}); name a mirror that has"])
    for component in release.components() if request.components is None else request.components:
        yield from (f"{component}/binary-{arch}/Packages" for arch in arches)
