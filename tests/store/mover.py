"""A process that moves one node to and fro: `python -m tests.store.mover <database> <key file> <name> <moves>`.

It prints one line per committed move, and `lost` for each that somebody else was faster with.
"""

import asyncio
import sys
from pathlib import Path

from provisioner.models.lifecycle import State
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.store.nodes import N1, START

OTHER = {State.BOOTING: State.BURNING_IN, State.BURNING_IN: State.BOOTING}


async def move_to_and_fro(store: Store, name: str, moves: int) -> None:
    """Move as often as `moves` says, won or lost."""
    for _ in range(moves):
        seen = await store.nodes.get(N1)
        to = OTHER.get(seen.state, State.BOOTING)
        won = await store.nodes.advance(seen, to, name, START)
        print(f"{seen.attempt} {to}" if won else "lost", flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    opened = open_store(sys.argv[1], open_cipher(Path(sys.argv[2])))
    asyncio.run(move_to_and_fro(opened, sys.argv[3], int(sys.argv[4])))
    opened.close()
