"""What became of a pull: the journal and a person are told whether the BMC came for its package, and what it took.

H18 of the field's hazards: an image server that a BMC cannot reach (dell/iDRAC-Redfish-Scripting#314).
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from profiles.firmware.component import FirmwareComponent, Transport
from provisioner.firmware.phase import Phase
from provisioner.models.identifiers import RunKey
from provisioner.models.lifecycle import State
from provisioner.operations.bmc_ready import await_bmc
from provisioner.operations.conclude import TRIES
from provisioner.operations.firmware_pulls import fetched_words, server_to_reach
from provisioner.operations.reach import bmc_of
from provisioner.pulls import Pulls
from tests.firmware.workshop import Case, Workshop, done, workshop

pytestmark = [pytest.mark.xdist_group("firmware-pulls"), pytest.mark.timeout(900)]

Ended = tuple[Workshop, asyncio.Runner]

NEVER = "never fetched the package: it cannot reach http://127.0.0.1:"


def _pull_only(one: FirmwareComponent) -> FirmwareComponent:
    return one.model_copy(update={"transports": (Transport.SIMPLE_UPDATE,)})


def _large(one: FirmwareComponent) -> FirmwareComponent:
    """More than the buffers of a connection hold."""
    artefact = one.artefact.model_copy(
        update={"file": "hgx-h100/cpld-large.fw", "sha256": "d" * 64, "size_bytes": 16_000_000}
    )
    return one.model_copy(update={"version": "F5.11.CE", "artefact": artefact, "releases": ()})


FAILS = Case("fails", {"image-not-fetched": {"times": 1}}, only=("cpld",))
CUT = Case("is cut off", {"image-not-fetched": {"bytes": 1000, "times": 1}}, only=("cpld",), change=_large)
NO_PUSH = Case("has no push", {"image-not-fetched": {}}, only=("cpld",), change=_pull_only)
BROKEN = Case("is whole and broken", {"task-fails": {"times": 1}}, only=("cpld",))
HANGS = Case("hangs", {"image-not-fetched": {"hangs": True}}, only=("cpld",))
CASES = (FAILS, CUT, NO_PUSH, BROKEN, HANGS)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """All servers, until none moves any more; and the loop that they are asked in."""
    with asyncio.Runner() as runner:
        opening = workshop(CASES, tmp_path_factory.mktemp("pulls"))
        made = runner.run(opening.__aenter__())
        runner.run(made.settle())
        yield made, runner
        runner.run(opening.__aexit__(None, None, None))


def _tried(made: Workshop, case: Case) -> list[str]:
    """Why each attempt failed."""
    return [one.reason for one in made.entries(case) if one.phase is Phase.FAILED]


def _asked(made: Workshop, case: Case, word: str) -> int:
    """How many POSTs went to a path with this word."""
    requests = made.truth(case)["requests"].items()
    return sum(count for asked, count in requests if asked.startswith("POST") and word in asked.lower())


async def _reset(made: Workshop, case: Case) -> None:
    """As a person does from the BMC's own page, and waits until it answers."""
    name = made.node(case).name
    async with bmc_of(made.world, name) as bmc:
        await bmc.reset_bmc()
    await await_bmc(made.world, RunKey("a person", name, 1, 1))


def test_a_pull_that_never_came_is_pushed_the_next_time(ended: Ended) -> None:
    """And the journal says why."""
    made, _ = ended
    assert made.node(FAILS).state is State.CONFIGURING_BIOS, made.story(FAILS)
    (reason,) = _tried(made, FAILS)
    assert f"the BMC at {made.bmc(FAILS).address} {NEVER}" in reason
    assert done(made.entries(FAILS))
    assert made.most_flashes(FAILS) == 1
    assert (_asked(made, FAILS, "simpleupdate"), _asked(made, FAILS, "/upload")) == (1, 1)


def test_one_that_came_is_not_pushed_but_pulled_again(ended: Ended) -> None:
    """The way is there. How much was taken, and when, tells a cut connection from a bad package."""
    made, _ = ended
    for case, share in ((CUT, "a part of the package and no more"), (BROKEN, "the whole package")):
        assert made.node(case).state is State.CONFIGURING_BIOS, made.story(case)
        (reason,) = _tried(made, case)
        fetched = rf"; the BMC at {made.bmc(case).address} fetched {share} "
        assert re.search(fetched + r"\([\d,]+ of [\d,]+ bytes, until [\d:]+ UTC\)", reason), made.story(case)
        assert (_asked(made, case, "simpleupdate"), _asked(made, case, "/upload")) == (2, 0)


def test_where_a_pull_is_the_only_way_a_person_is_told_what_to_check(ended: Ended) -> None:
    made, _ = ended
    hold = made.node(NO_PUSH).hold
    assert hold is not None, made.story(NO_PUSH)
    assert len(_tried(made, NO_PUSH)) == TRIES
    assert f"the BMC at {made.bmc(NO_PUSH).address} {NEVER}" in hold.reason
    assert "From the BMC's network, open http://127.0.0.1:" in hold.instruction.what
    assert "public_url" in hold.instruction.what
    assert _asked(made, NO_PUSH, "/upload") == 0


def test_one_that_stands_still_is_pushed_once_a_person_has_ended_it(ended: Ended) -> None:
    """Nobody resets a BMC under a task that may write; the person is told that nothing has come to it."""
    made, runner = ended
    hold = made.node(HANGS).hold
    assert hold is not None, made.story(HANGS)
    assert "has shown no progress" in hold.reason
    assert NEVER in hold.reason
    assert "From the BMC's network, open http://127.0.0.1:" in hold.instruction.what
    (entry,) = made.entries(HANGS)
    assert entry.phase is Phase.UNKNOWN
    assert NEVER in entry.reason
    runner.run(_reset(made, HANGS))
    assert runner.run(made.nodes.let_go(made.node(HANGS), "the BMC was reset", datetime.now(UTC)))
    runner.run(made.settle())
    assert made.node(HANGS).state is State.CONFIGURING_BIOS, made.story(HANGS)
    assert (_asked(made, HANGS, "simpleupdate"), _asked(made, HANGS, "/upload")) == (1, 1)
    assert made.most_flashes(HANGS) == 1


def test_a_worker_of_several_does_not_say_that_nobody_came(ended: Ended) -> None:
    """Another one may serve the packages: it is pushed the next time, and nobody is sent to look at the network."""
    made, _ = ended
    (entry, *_rest) = made.entries(NO_PUSH)
    pulls = Pulls(alone=False)
    world = replace(made.world, pulls=pulls)
    bmc = made.node(NO_PUSH).bmc
    assert fetched_words(world, bmc, entry) == ""
    pulls.told(bmc.host, entry.what.digest, datetime.now(UTC))
    words = fetched_words(world, bmc, entry)
    assert words == f"; this worker saw no download by the BMC at {bmc.host}, another one may have served it"
    unseen = replace(entry, changes=(replace(entry.changes[-1], reason=words),))
    assert server_to_reach(world, [unseen]) == ""
