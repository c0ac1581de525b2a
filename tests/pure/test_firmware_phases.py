"""The phases of an update as properties: whatever is tried, nothing is sent twice and nothing is done unseen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.component import Activation
from provisioner.errors import Conflict
from provisioner.firmware.phase import FINISHED, MOVES, Change, Entry, Phase, Planned, may_be_flashing, may_move, moved
from provisioner.models.identifiers import NodeName

NOW = datetime(2030, 1, 1, tzinfo=UTC)
WHAT = Planned("bios", "2.5", "sha256:aa", Activation.HOST_RESET)
changes = st.builds(Change, st.sampled_from(Phase), st.just(NOW), st.just("why"), st.booleans())


def entry(phase: Phase = Phase.PLANNED) -> Entry:
    """One that has come so far."""
    return Entry(1, NodeName("r01-u01"), WHAT, 1, phase, None, None, (), (Change(phase, NOW),))


@given(st.lists(changes, max_size=40))
def test_any_sequence_of_moves_keeps_the_promises(tried: list[Change]) -> None:
    """What the table refuses changes nothing; what it allows never sends again after the device may have it."""
    one = entry()
    for change in tried:
        try:
            one = moved(one, change)
        except Conflict:
            assert not may_move(one.phase, change)
    way = [change.phase for change in one.changes]
    for before, after in zip(one.changes, one.changes[1:], strict=False):
        assert before.phase not in FINISHED
        assert after.phase is not Phase.DONE or after.seen
        assert before.phase is not Phase.UNKNOWN or after.seen
        back = (before.phase, after.phase) in {
            (Phase.UPLOADED, Phase.PREFLIGHT),
            (Phase.VERIFYING, Phase.ACTIVATING),
        }
        assert not back or after.seen
    if Phase.STAGED in way:
        assert Phase.UPLOADED not in way[way.index(Phase.STAGED) :]
    if Phase.UNKNOWN in way:
        assert Phase.UPLOADED not in way[way.index(Phase.UNKNOWN) :]


@pytest.mark.parametrize("phase", sorted(set(Phase) - FINISHED))
def test_every_phase_has_a_way_to_an_end(phase: Phase) -> None:
    reached, before = {phase}, set[Phase]()
    while reached != before:
        before = set(reached)
        reached |= {to for one in before for to in MOVES[one]}
    assert Phase.DONE in reached
    assert Phase.FAILED in reached


@given(st.sampled_from(Phase), st.integers(-5, 5))
def test_only_what_is_in_flight_may_flash_unseen(phase: Phase, minutes: int) -> None:
    """While its time lasts and nobody sees a task, no reset goes out."""
    one = replace(entry(phase), live_until=NOW + timedelta(minutes=minutes))
    assert bool(may_be_flashing([one], NOW)) is (phase in {Phase.UPLOADED, Phase.UNKNOWN} and minutes > 0)
