"""Who asks at once is answered at once; nobody gets what was read before asking."""

import asyncio
from contextlib import suppress

from provisioner.schedulers.shared_read import SharedRead


class Counter:
    """Each reading takes until it is let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.go = asyncio.Event()
        self.broken = False

    async def read(self) -> int:
        self.begun += 1
        number = self.begun
        await self.go.wait()
        if self.broken:
            raise ConnectionError("away")
        return number


async def turn() -> None:
    """Let everybody get as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_those_who_ask_while_it_is_read_wait_for_the_next_reading_together() -> None:
    counter = Counter()
    shared = SharedRead(counter.read)
    first = [asyncio.create_task(shared()) for _ in range(3)]
    await turn()
    later = [asyncio.create_task(shared()) for _ in range(50)]
    await turn()
    assert counter.begun == 1
    counter.go.set()
    assert await asyncio.gather(*first) == [1] * 3
    assert await asyncio.gather(*later) == [2] * 50
    assert await shared() == 3


async def test_who_goes_away_takes_nobodys_answer_along() -> None:
    counter = Counter()
    shared = SharedRead(counter.read)
    impatient, patient = asyncio.create_task(shared()), asyncio.create_task(shared())
    await turn()
    impatient.cancel()
    with suppress(asyncio.CancelledError):
        await impatient
    counter.go.set()
    assert await patient == 1


async def test_a_reading_that_fails_fails_for_all_who_wait_and_for_nobody_after() -> None:
    counter = Counter()
    shared = SharedRead(counter.read)
    counter.broken = True
    counter.go.set()
    answers = await asyncio.gather(shared(), shared(), return_exceptions=True)
    assert [type(one) for one in answers] == [ConnectionError] * 2
    counter.broken = False
    assert await shared() == 2
