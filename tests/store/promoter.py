"""A process that promotes two releases in turns: `python -m tests.store.promoter <database> <key file> <name>`.

It prints `applied` for each promotion that it has applied, and `lost` where somebody else was faster.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement
from provisioner.models.promotion import PromotionState
from provisioner.promotion.step import end
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.promotion.samples import H100, NOW, a_promotion, a_release

RELEASES = tuple(map(a_release, "ab"))


async def promote(store: Store, name: str) -> None:
    """Until it is killed."""
    for number in count():
        asked = a_promotion(RELEASES[number % 2], Channel.DEV, id=f"{name}-{number}")
        there = await store.promotions.request(asked, audit=AuditEntry(NOW, name, "promotion.request", asked.id))
        pointer = await store.channels.pointer(Channel.DEV, H100)
        revision = 1 if pointer is None else pointer.revision + 1
        movement = Movement(revision, there.release, NOW, name, "in turns", there.id)
        audit = AuditEntry(NOW, name, "promotion.apply", there.id, after=there.release)
        won = await store.promotions.apply(there, end(there, PromotionState.APPLIED, NOW, ""), movement, audit=audit)
        print("applied" if won else "lost", flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    opened = open_store(sys.argv[1], open_cipher(Path(sys.argv[2])))
    asyncio.run(promote(opened, sys.argv[3]))
