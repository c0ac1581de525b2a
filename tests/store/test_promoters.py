"""Workers that promote at once and are killed: what moved was applied, and what was applied has moved."""

import subprocess
import sys
from pathlib import Path

from provisioner.capabilities.promotions import PromotionQuery
from provisioner.models.audit import AuditLine
from provisioner.models.channel import Channel
from provisioner.models.promotion import Promotion, PromotionState
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.promotion.samples import H100
from tests.store.promoter import RELEASES

ROUNDS = (1, 5, 14)
"""How many each of two workers applies before it is killed."""


def start(url: str, key_file: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.promoter", url, str(key_file), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_after(promoter: subprocess.Popen[str], applied: int) -> int:
    """Read until it has applied so many, kill it, and return how many it has told in all."""
    assert promoter.stdout is not None
    told = 0
    while told < applied:
        line = promoter.stdout.readline()
        assert line, "it ended by itself"
        told += line == "applied\n"
    promoter.kill()
    told += promoter.stdout.read().splitlines().count("applied")
    promoter.wait()
    promoter.stdout.close()
    return told


async def everything(store: Store) -> tuple[list[Promotion], list[AuditLine]]:
    """All promotions and all lines of the audit log."""
    promotions = list(await store.promotions.page(PromotionQuery(), None, 100_000))
    return promotions, list(await store.audit.page(0, 100_000))


async def test_of_promotion_pointer_history_and_audit_all_move_or_none(empty_url: str, tmp_path: Path) -> None:
    """Two at once, killed at any moment, three times over."""
    store = open_store(empty_url, open_cipher(tmp_path / "key"))
    for release in RELEASES:
        await store.documents.put_release(release)
    told = 0
    for number, applied in enumerate(ROUNDS):
        pair = [start(empty_url, tmp_path / "key", f"{name}{number}") for name in "ab"]
        told += sum(kill_after(one, applied) for one in pair)
    promotions, lines = await everything(store)
    moves = await store.channels.history(Channel.DEV, H100)
    done = {one.id for one in promotions if one.state is PromotionState.APPLIED}
    assert [move.revision for move in moves] == list(range(1, len(moves) + 1))
    assert {move.promotion for move in moves} == done
    assert len(moves) == len(done)
    assert [line.entry.subject for line in lines if line.entry.what == "promotion.apply"] == [
        move.promotion for move in moves
    ]
    assert 0 <= len(moves) - told <= 2 * len(ROUNDS), "all that they told, and one each that it could not tell"
    pointer = await store.channels.pointer(Channel.DEV, H100)
    assert pointer is not None
    assert (pointer.release, pointer.revision) == (moves[-1].release, len(moves))
    assert len(await store.promotions.unended()) <= 1, "one candidate at a time"
    store.close()
