"""The limit of uploads: on the event loop's own clock, so that no test depends on how fast this machine is."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from provisioner.upload_limit import UploadLimit


class Jumps(asyncio.SelectorEventLoop):
    """A loop whose time passes only where somebody sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self.moment = 1000.0

    def time(self) -> float:
        """The moment."""
        return self.moment

    def call_at(  # type: ignore[override]  # less exact than its superclass
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> Any:
        """At once, with the time that it was to be."""

        def then() -> None:
            self.moment = max(self.moment, when)
            callback(*args)

        return self.call_soon(then, context=context)


def seconds_of(work: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """How long it takes."""
    loop = Jumps()
    try:
        loop.run_until_complete(work())
        return loop.moment - 1000.0
    finally:
        loop.close()


def test_what_leaves_keeps_to_the_limit() -> None:
    """100 pieces of 1,000 bytes at 10,000 bytes a second, less the quarter of a second that was saved up."""

    async def work() -> None:
        limit = UploadLimit(10_000)
        for _ in range(100):
            await limit.take(1000)

    assert 9.7 <= seconds_of(work) <= 10.0


def test_all_who_upload_share_it() -> None:
    async def work() -> None:
        limit = UploadLimit(10_000)
        await asyncio.gather(*(limit.take(1000) for _ in range(100)))

    assert 9.7 <= seconds_of(work) <= 10.0


def test_a_piece_larger_than_the_bucket_passes_in_its_time() -> None:
    async def work() -> None:
        await UploadLimit(1000).take(5000)

    assert 4.7 <= seconds_of(work) <= 5.0


def test_a_rest_saves_up_a_quarter_of_a_second_and_no_more() -> None:
    async def work() -> None:
        limit = UploadLimit(1000)
        await limit.take(1000)
        await asyncio.sleep(3600)
        await limit.take(250)
        assert asyncio.get_running_loop().time() == 1000.0 + 3600.75
        await limit.take(1000)

    assert seconds_of(work) == 3601.75


def test_no_limit_no_wait() -> None:
    async def work() -> None:
        await UploadLimit(None).take(10**12)
        await UploadLimit(1).take(0)

    assert seconds_of(work) == 0


def test_pieces_pass_unchanged() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"a" * 500, b"", b"b" * 500):
            yield piece

    async def work() -> None:
        paced = [piece async for piece in UploadLimit(500).paced(pieces())]
        assert b"".join(paced) == b"a" * 500 + b"b" * 500

    assert 1.7 <= seconds_of(work) <= 2.0
