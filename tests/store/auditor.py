"""A process that writes audit lines: `python -m tests.store.auditor <database> <key file> <who> <lines>`."""

import asyncio
import sys
from pathlib import Path

from provisioner.models.audit import AuditEntry
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.store.nodes import N1, START


async def write(store: Store, who: str, lines: int) -> None:
    """One transaction a line."""
    for _ in range(lines):
        await store.audit.record(AuditEntry(START, who, "node.hold", N1))


if __name__ == "__main__":
    opened = open_store(sys.argv[1], open_cipher(Path(sys.argv[2])))
    asyncio.run(write(opened, sys.argv[3], int(sys.argv[4])))
    opened.close()
