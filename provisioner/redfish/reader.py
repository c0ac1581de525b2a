"""Collections and optional resources, read over asyncio, expanded where that is proven."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from provisioner.errors import BmcError, BmcRefused, BmcUnreachable, ResourceGone
from provisioner.redfish import expand
from provisioner.redfish.access import Access
from provisioner.redfish.snapshot import Document, Members, links

T = TypeVar("T")
MOST_PAGES = 100


class Reader:
    """Reads of one caller. `edition` and `root` decide about `$expand`."""

    def __init__(self, access: Access, verdicts: expand.ExpandVerdicts, edition: str, root: Document) -> None:
        """`verdicts` is shared by all BMCs of a site."""
        self._access = access
        self._verdicts = verdicts
        self._edition = edition
        self._root = root

    async def optional(self, path: str | None) -> Document | None:
        """A resource that a part need not have: None when there is no link, or it leads nowhere."""
        if path is None:
            return None
        try:
            return await self._access.document(path)
        except (ResourceGone, BmcRefused):
            return None

    def settled(self, path: str | None) -> bool:
        """Whether the collection expands is known, one way or the other."""
        return path is None or self._verdicts.of(self._edition, path, self._root) is not None

    def few(self, paths: Iterable[str | None]) -> bool:
        """Each of these collections comes in one answer, or nobody has seen yet that it does not."""
        return all(self._verdicts.of(self._edition, path, self._root) is not False for path in paths if path)

    async def members(self, path: str | None) -> tuple[Document, Members]:
        """A collection and its members, in the BMC's order; a member that answers 404 is left out."""
        if path is None:
            return {}, []
        async with self._verdicts.probing(self._edition, path, self._root) as verdict:
            return await self._members(path, verdict)

    async def _members(self, path: str, verdict: bool | None) -> tuple[Document, Members]:  # noqa: FBT001  three values
        expanded = await self._expanded(path) if verdict else None
        if expanded is not None:
            return expanded
        collection = await self.optional(path) or {}
        listed = await self._all_links(collection)
        plain = await self._each(listed)
        if verdict:
            self._verdicts.settle(self._edition, path, works=False)
        elif verdict is None and 0 < len(listed) == len(plain):
            probed = await self._expanded(path)
            self._verdicts.settle(self._edition, path, works=probed is not None and expand.same(plain, probed[1]))
        return collection, plain

    async def _each(self, paths: tuple[str, ...]) -> Members:
        documents = await together([self.optional(path) for path in paths])
        return [(path, document) for path, document in zip(paths, documents, strict=True) if document is not None]

    async def _expanded(self, path: str) -> tuple[Document, Members] | None:
        """None when the answer is not what an expanded collection looks like."""
        try:
            collection = await self._access.document(path + expand.QUERY)
        except ResourceGone:
            return {}, []
        except (BmcRefused, BmcUnreachable):
            return None
        found = expand.members_of(collection)
        if found is None or collection.get("Members@odata.nextLink"):
            return None
        return collection, found

    async def _all_links(self, collection: Document) -> tuple[str, ...]:
        """Members of all pages (`Members@odata.nextLink`)."""
        found = list(links(collection, "Members"))
        page = collection
        for _ in range(MOST_PAGES):
            following = page.get("Members@odata.nextLink")
            if not isinstance(following, str) or not following:
                break
            page = await self._access.document(following)
            found += links(page, "Members")
        return tuple(dict.fromkeys(found))


async def in_turn(work: list[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order; after an error nothing more is begun."""
    try:
        return [await one for one in work]
    finally:
        for one in work:
            one.close()


async def together(work: list[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order; the first error ends the others and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as errors:
        first = next((one for one in errors.exceptions if isinstance(one, BmcError)), errors.exceptions[0])
        raise first from None
    return [task.result() for task in tasks]
