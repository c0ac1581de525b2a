"""What holds for every driver, GPU and toolkit in the facts, alone and together."""

from datetime import date, timedelta
from random import Random
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from profiles.compat.answers import Outcome, Severity, Verdict
from profiles.compat.kinds import ModuleFlavour
from profiles.compat.setup import Setup
from profiles.compat.versions import parse_version
from profiles.compatibility import check
from tests.profiles.setups import FACTS, days, drivers, gpus, names, setups, toolkits, verdict


def runs(judged: Verdict) -> bool:
    """Say whether nothing about toolkit and driver refuses."""
    return not [one for one in judged.refusals if one.rule == "toolkit and driver"]


@given(st.tuples(drivers, drivers), gpus, toolkits, st.booleans())
def test_a_newer_driver_never_loses_a_toolkit_unless_it_drops_the_gpu(
    pair: tuple[str, str], gpu: str, cuda: str, jit_ptx: bool
) -> None:
    """Backward compatibility, CUDA Compatibility guide."""
    older, newer = sorted(pair, key=parse_version)
    after = verdict(newer, gpu, cuda=cuda, jit_ptx=jit_ptx)
    assume("driver-dropped-architecture" not in names(after, Severity.REFUSAL))
    before = verdict(older, gpu, cuda=cuda, jit_ptx=jit_ptx)
    assert runs(after) or not runs(before)


@given(setups, days)
def test_everything_that_is_said_names_a_source(setup: Setup, on: date) -> None:
    judged = check(setup, FACTS, on)
    assert all(one.sources for one in judged.said)
    assert all(source.title and source.url for one in judged.said for source in one.sources)


@given(setups, days, st.randoms(use_true_random=False))
def test_the_order_of_what_is_named_does_not_matter(setup: Setup, on: date, random: Random) -> None:
    def turned(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(random.sample(words, len(words)))

    other = Setup(
        driver=setup.driver,
        gpus=turned(setup.gpus),
        cuda=turned(setup.cuda),
        jit_ptx=setup.jit_ptx,
        forward_package=setup.forward_package,
        modules=setup.modules,
        platform=setup.platform,
        components=tuple(random.sample(setup.components, len(setup.components))),
        memory_mode=setup.memory_mode,
        gsp_firmware=setup.gsp_firmware,
        kernel=setup.kernel,
        uses=setup.uses,
    )
    assert check(other, FACTS, on) == check(setup, FACTS, on)


@given(setups, days)
def test_the_verdict_is_its_worst_answer(setup: Setup, on: date) -> None:
    judged = check(setup, FACTS, on)
    severities = {one.severity for one in judged.said}
    expected = {
        Outcome.REFUSED: Severity.REFUSAL in severities,
        Outcome.UNKNOWN: Severity.UNKNOWN in severities and Severity.REFUSAL not in severities,
        Outcome.OK: severities == {Severity.PASS},
    }
    assert [outcome for outcome, holds in expected.items() if holds] in ([judged.outcome], [])
    assert (judged.outcome is Outcome.OK) == (not judged.reasons)


@given(drivers, gpus, gpus, st.none() | st.sampled_from(ModuleFlavour), st.none() | toolkits)
def test_another_gpu_in_the_image_never_helps(
    driver: str, gpu: str, other: str, modules: ModuleFlavour | None, cuda: str | None
) -> None:
    toolkit: dict[str, Any] = {"cuda": cuda} if cuda else {}
    if verdict(driver, gpu, modules=modules, **toolkit).outcome is Outcome.REFUSED:
        assert verdict(driver, f"{gpu},{other}", modules=modules, **toolkit).outcome is Outcome.REFUSED


@given(drivers, gpus, days)
def test_what_has_ended_stays_ended(driver: str, gpu: str, on: date) -> None:
    later = names(verdict(driver, gpu, on + timedelta(days=400)), Severity.FINDING)
    assert names(verdict(driver, gpu, on), Severity.FINDING) <= later
