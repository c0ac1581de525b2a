"""The one judge of versions: each class of each node, and both who ask it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.drift import Sighting, drift, versions_of
from provisioner.firmware.classes import Classes
from provisioner.firmware.compliance import compliance
from provisioner.firmware.judgement import Judge
from provisioner.models.drift import FindingKind
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.versions import Verdict
from tests.pure.samples import catalogued, node, part

BUNDLE = catalogued(
    {"name": "bmc", "glob": "BMC*", "version": "2", "releases": ["1", "2", "3"], "activation": "bmc_reset"},
    {
        "name": "gpu",
        "glob": "GPU_*",
        "version": "97.0C",
        "releases": ["95.01", "96.01", "97.0C"],
        "floor": "96.01",
        "activation": "ac_cycle",
        "extract": "Ver (.+)",
    },
)
EQUAL, OLDER, NEWER, UNKNOWN, MISSING = Verdict


@pytest.mark.parametrize(
    ("told", "verdicts", "mixed", "unknown", "below"),
    [
        (["Ver 97.0c ", "97.0C\0"], [EQUAL], False, False, False),
        (["97.0C", "96.01"], [EQUAL, OLDER], True, False, False),
        (["Ver 95.01", "95.01 "], [OLDER], False, False, True),
        (["98", "97.0C", None], [UNKNOWN, EQUAL, MISSING], True, True, False),
        (["97.0C", None, "N/A"], [EQUAL, MISSING], False, True, False),
        ([], [], False, True, False),
    ],
    ids=["spelling", "mixed", "below", "strange", "silent", "absent"],
)
def test_a_class_in_a_node_is_judged_once_per_version(
    told: list[str | None], verdicts: list[Verdict], mixed: bool, unknown: bool, below: bool
) -> None:
    """A part that tells no version is not one that runs another: it is unknown, and not mixed."""
    seen = Judge(Classes(BUNDLE)).of_class(1, tuple(told))
    assert [one.verdict for one in seen.reported] == verdicts
    assert (seen.mixed, seen.unknown, seen.below_floor, seen.parts) == (mixed, unknown, below, len(told))


def test_older_and_newer_go_by_rank_and_texts_are_those_of_the_catalog() -> None:
    judge = Judge(Classes(BUNDLE))
    assert [judge.of_class(0, (one,)).reported[0].verdict for one in ("1", "2", "3")] == [OLDER, EQUAL, NEWER]
    seen = judge.of_inventory([part("GPU_1", "Ver  97.0c"), part("GPU_2", "Ver  96.01\0"), part("PSU", "7")])
    assert [(one.key, one.text) for one in seen[1].reported] == [("97.0c", "97.0C"), ("96.01", "96.01")]
    assert [one.parts for one in seen] == [0, 2]


parts = st.lists(
    st.builds(
        part,
        st.sampled_from(["BMC_0", "GPU_0", "GPU_1", "GPU_2"]),
        st.sampled_from(["1", "2", "2 ", "95.01", "Ver 96.01", "97.0c", "other", "N/A", None]),
    ),
    unique_by=lambda one: one.id,
)


@given(parts)
def test_the_drift_watch_and_the_compliance_of_a_pool_agree(inventory: list[FirmwareComponent]) -> None:
    """A node is off its bundle where its class is not compliant, and mixed where both say so."""
    ready = node(State.READY)
    found = drift([Sighting(ready, BUNDLE, spans=False, versions=versions_of(BUNDLE, inventory))])
    told = {kind: {one.component for one in found if one.kind is kind} for kind in FindingKind}
    classes = compliance(BUNDLE, {ready.name: inventory})
    assert told[FindingKind.MIXED] == {one.component for one in classes if one.mixed}
    assert told[FindingKind.OFF_BUNDLE] == {
        one.component for one in classes if one.unknown or any(it.verdict is not EQUAL for it in one.versions)
    }
