"""What the planned cycle leaves old is cycled once more, harder, by what the BMC offers; then a person is asked.

H16 and F24 of the field's hazards: a chassis in the box with a power domain of its own
(dsx-ai-factory/infra-controller#3480).
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from provisioner.firmware.phase import Phase
from provisioner.models.lifecycle import State
from provisioner.operations.conclude import TRIES
from tests.firmware.workshop import Case, Workshop, done, workshop
from tests.operations.invariants import assert_told

pytestmark = [pytest.mark.xdist_group("firmware-step-up"), pytest.mark.timeout(900)]

Ended = tuple[Workshop, asyncio.Runner]
Faults = dict[str, dict[str, Any]]

AWAY: Faults = {"chassis-stays-old": {}}
MAINS: Faults = {"chassis-stays-old": {"mains": True}}
NO_VERB: Faults = {"power-cut-not-offered": {}}
BOARD = ("hgx-bmc",)
MAINS_CYCLE = Case("mains by verb", AWAY, only=("gpu-vbios",))
STANDBY = Case("standby power by verb", AWAY, "gb200-compute-tray", BOARD)
TOO_WEAK = Case("the verb is too weak", MAINS, "gb200-compute-tray", BOARD)
NO_OFFER = Case("no verb", AWAY | NO_VERB, "gb200-compute-tray", BOARD)
SILENT = Case("no verb, and no word of what waits", AWAY | NO_VERB, only=("gpu-vbios",))
NOT_WRITTEN = Case("nothing waits", {"flash-completes-old-version": {}}, "gb200-compute-tray", BOARD)
CASES = (MAINS_CYCLE, STANDBY, TOO_WEAK, NO_OFFER, SILENT, NOT_WRITTEN)
PLANNED = ["planned", "preflight", "uploaded", "staged", "activating", "verifying"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """All servers, until none moves any more; and the loop that they are asked in."""
    with asyncio.Runner() as runner:
        opening = workshop(CASES, tmp_path_factory.mktemp("step-up"))
        made = runner.run(opening.__aenter__())
        runner.run(made.settle())
        yield made, runner
        runner.run(opening.__aexit__(None, None, None))


def _cuts(made: Workshop, case: Case) -> int:
    """How often a verb that cuts more than the host's power was asked for."""
    requests = made.truth(case)["requests"].items()
    return sum(count for asked, count in requests if asked.startswith("POST") and "/actions/oem/" in asked.lower())


def _phases(made: Workshop, case: Case) -> list[str]:
    (entry,) = made.entries(case)
    return [change.phase.value for change in entry.changes]


@pytest.mark.parametrize(
    ("case", "verb"),
    [
        (MAINS_CYCLE, "OemSystemExtensions.Reset ACCycle of 1"),
        (STANDBY, "NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0"),
    ],
    ids=lambda one: one.name if isinstance(one, Case) else "",
)
def test_the_next_stronger_verb_makes_it_run(ended: Ended, case: Case, verb: str) -> None:
    """Asked once; nothing is flashed again, and the journal says what was tried."""
    made, _ = ended
    assert made.node(case).state is State.CONFIGURING_BIOS, made.story(case)
    assert _phases(made, case) == [*PLANNED, "activating", "verifying", "done"]
    (entry,) = made.entries(case)
    assert [one.reason for one in entry.activations] == ["power_cycle", f"the old version runs after it: now {verb}"]
    assert made.most_flashes(case) == 1
    assert _cuts(made, case) == 1


@pytest.mark.parametrize("case", [TOO_WEAK, NO_OFFER], ids=lambda case: case.name)
def test_then_a_person_pulls_the_cords_and_nothing_is_flashed_again(ended: Ended, case: Case) -> None:
    """No second verb, no loop: it is held with the part and the cords, and only looked at after the release.

    Whoever releases it too early is told once more.
    """
    made, runner = ended
    if case is NO_OFFER:
        assert runner.run(made.nodes.let_go(made.node(case), "too early", datetime.now(UTC)))
        runner.run(made.settle())
    hold = made.node(case).hold
    assert hold is not None, made.story(case)
    assert_told(hold.instruction)
    tried = "power_cycle and NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0" if case is TOO_WEAK else "power_cycle"
    assert hold.reason.startswith(f"after {tried} the old version runs, and the new one waits: hgx-bmc"), hold.reason
    assert "HGX_FW_BMC_0 runs GB200Nvl-24.12-8" in (hold.instruction.part or "")
    assert "power cords" in (hold.instruction.part or "")
    assert "pull every power cord of this chassis" in hold.instruction.what
    cuts = 1 if case is TOO_WEAK else 0
    assert _cuts(made, case) == cuts
    name = made.bmc(case).name
    made.fleet.act(name, "power-loss")
    made.fleet.act(name, "power-restore")
    assert runner.run(made.nodes.let_go(made.node(case), "the cords were pulled", datetime.now(UTC)))
    runner.run(made.settle())
    assert made.node(case).state is State.CONFIGURING_BIOS, made.story(case)
    assert done(made.entries(case))
    assert made.most_flashes(case) == 1
    assert _cuts(made, case) == cuts


def test_where_nothing_says_that_it_waits_it_is_flashed_again_and_then_held(ended: Ended) -> None:
    """The BMC may have lied about the flash; in the end the instruction names the part and the cords as well."""
    made, _ = ended
    hold = made.node(SILENT).hold
    assert hold is not None, made.story(SILENT)
    assert [one.phase for one in made.entries(SILENT)] == [Phase.FAILED] * TRIES
    assert "HGX_FW_GPU_SXM_1 runs 96.00.61.00.01" in hold.reason
    assert "pull all power cords" in hold.instruction.what


def test_no_power_is_cut_for_an_image_that_is_not_there(ended: Ended) -> None:
    """openbmc/bmcweb#206: Completed, and the other slot holds what it held before. No cycle helps that."""
    made, _ = ended
    assert made.node(NOT_WRITTEN).hold is not None, made.story(NOT_WRITTEN)
    assert _cuts(made, NOT_WRITTEN) == 0
    assert all("activating" in [one.phase.value for one in entry.changes] for entry in made.entries(NOT_WRITTEN))
