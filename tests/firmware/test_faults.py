"""Every fault of updates, tasks and outages: the server ends with the bundle's firmware, or a person is told."""

import asyncio
from collections.abc import Iterator

import pytest

from provisioner.firmware.phase import Phase
from provisioner.models.lifecycle import State
from tests.firmware.cases import ALL
from tests.firmware.workshop import Case, Workshop, done, workshop
from tests.operations.invariants import assert_told

pytestmark = [pytest.mark.xdist_group("firmware"), pytest.mark.timeout(900)]

GETS_ON = [case for case in ALL if not case.held]
HELD = [case for case in ALL if case.held]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """All servers at once, until none moves any more. The emulator is there as long as the tests ask it."""
    with asyncio.Runner() as runner:
        opening = workshop(ALL, tmp_path_factory.mktemp("firmware"))
        made = runner.run(opening.__aenter__())
        runner.run(made.settle())
        yield made
        runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("case", GETS_ON, ids=lambda case: case.name)
def test_the_firmware_gets_to_its_bundle(ended: Workshop, case: Case) -> None:
    """By itself; nothing is sent twice that may have arrived, and the journal is closed."""
    assert ended.node(case).state is State.CONFIGURING_BIOS, ended.story(case)
    assert done(ended.entries(case)), ended.story(case)
    assert ended.most_flashes(case) <= case.tries, (ended.truth(case)["flashes"], ended.story(case))


@pytest.mark.parametrize("case", HELD, ids=lambda case: case.name)
def test_a_person_is_told_what_to_do(ended: Workshop, case: Case) -> None:
    """With the component, what was seen and what comes next."""
    node = ended.node(case)
    assert node.hold is not None, ended.story(case)
    assert case.held in node.hold.reason, ended.story(case)
    assert_told(node.hold.instruction)
    assert any(name in node.hold.reason for name in case.only), node.hold.reason


def test_no_engine_error_and_no_early_success(ended: Workshop) -> None:
    """What a task says is never enough: each done entry says which parts were seen to run."""
    assert ended.engine.errors() == {}
    for entry in ended.journal.entries.values():
        if entry.phase is Phase.DONE:
            assert entry.changes[-1].seen, entry
            assert entry.reason.startswith(("runs in", "runs already", "seen on the device")), entry
