"""Coherent GPU memory on Grace systems: always written down, because the driver's default flips between branches."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, finding, fine, refusal, unknown
from profiles.compat.asked import Asked
from profiles.compat.kinds import MemoryMode
from profiles.compat.versions import parse_version


def memory_mode(asked: Asked) -> Iterator[Answer]:
    """Is the mode explicit where it matters, and absent where it means nothing?"""
    coherent = _coherent(asked)
    if coherent is False:
        yield from _not_coherent(asked)
    elif asked.driver < parse_version(asked.facts.memory_mode.first_driver):
        yield from _before_the_parameter(asked)
    elif asked.setup.memory_mode is None:
        yield _unset(asked) if coherent else _perhaps_unset(asked)
    else:
        yield from _set(asked, asked.setup.memory_mode)


def unset_default(asked: Asked) -> str:
    """What the driver does by itself."""
    facts = asked.facts.memory_mode
    if asked.driver < parse_version(facts.first_driver) or asked.branch.branch < facts.flips_at_branch:
        return facts.unset_before
    return facts.unset_after


def _coherent(asked: Asked) -> bool | None:
    """Whether any GPU is on coherent memory; None where a word does not tell."""
    answers = {gpu.coherent for gpu in asked.gpus}
    models = {one.name: one.coherent for one in asked.facts.gpus.list}
    if asked.platform is not None and asked.platform.gpus:
        on_platform = {models[name] for name in asked.platform.gpus}
        answers = {next(iter(on_platform)) if one is None and len(on_platform) == 1 else one for one in answers}
    if True in answers:
        return True
    return None if None in answers else False


def _not_coherent(asked: Asked) -> Iterator[Answer]:
    facts = asked.facts.memory_mode
    if asked.setup.memory_mode is not None:
        text = f"{facts.parameter} has no effect on these GPUs: leave it out"
        yield finding("memory-mode-without-effect", text, facts.sources)


def _before_the_parameter(asked: Asked) -> Iterator[Answer]:
    facts, wanted = asked.facts.memory_mode, asked.setup.memory_mode
    text = f"{facts.parameter} came with {facts.first_driver}; {asked.setup.driver} does not know it"
    if wanted is MemoryMode.DRIVER:
        yield refusal("memory-mode-not-available", f"{text} and can only do {facts.unset_before}", facts.sources)
    elif wanted is MemoryMode.NUMA:
        yield finding("memory-mode-without-effect", f"{text}: leave it out", facts.sources)
    else:
        yield fine("memory-mode-not-there-yet", text, facts.sources)


def _unset(asked: Asked) -> Answer:
    facts = asked.facts.memory_mode
    text = (
        f"the memory mode is not written down: {asked.setup.driver} takes {unset_default(asked)} by itself, and that "
        f"flips from {facts.unset_before} to {facts.unset_after} at R{facts.flips_at_branch}; set {facts.parameter}"
    )
    return refusal("memory-mode-unset", text, facts.sources)


def _perhaps_unset(asked: Asked) -> Answer:
    names = ", ".join(gpu.name for gpu in asked.gpus if gpu.coherent is None)
    text = f"{names} may be on Grace, where the memory mode must be written down: name the product or the platform"
    return unknown("memory-mode-unknown", text, asked.facts.memory_mode.sources)


def _set(asked: Asked, mode: MemoryMode) -> Iterator[Answer]:
    facts = asked.facts.memory_mode
    yield fine("memory-mode-explicit", f"{facts.parameter}={mode} is written down", facts.sources)
    if mode is not MemoryMode.DRIVER:
        return
    first = parse_version(facts.first_driver)
    for use in sorted(asked.setup.uses & set(facts.driver_mode_excluded_at_first)):
        text = f"{use} does not work with {facts.parameter}={mode} in {facts.first_driver}"
        if asked.driver == first:
            yield refusal("memory-mode-excludes-use", text, facts.sources)
        else:
            text = f"{text}; whether it does in {asked.setup.driver} is not established"
            yield unknown("memory-mode-with-use-unknown", text, facts.sources)
