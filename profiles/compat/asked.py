"""The words of a setup, found in the facts; or everything about them that is not known, with the nearest names."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from profiles.compat.facts import Architecture, CompatibilityFacts, DriverBranch, GpuModel, Platform
from profiles.compat.setup import Component, Setup
from profiles.compat.versions import Version, parse_prefix, parse_version
from profiles.problems import Problem


class UnknownWordsError(ValueError):
    """Nothing can be decided about words that the facts do not hold. `problems` name the fields of the setup."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """The text is one problem per line."""
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{one.message}; {one.hint}" if one.hint else one.message for one in self.problems))


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a word for a GPU means. Architectures and capabilities stand for every product that has them.

    `coherent` and `data_centre` are None where those products differ, or where it is not established.
    """

    name: str
    architectures: tuple[Architecture, ...]
    coherent: bool | None
    data_centre: bool | None


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A CUDA toolkit; `minor` is (13, 2). `preview` says what it is where it must not be offered."""

    name: str
    number: Version
    min_driver: Version | None
    preview: str | None = None

    @property
    def minor(self) -> Version:
        """Major and minor number."""
        return self.number[:2]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question in the terms of the facts. `on` is the day for which it is decided."""

    facts: CompatibilityFacts
    setup: Setup
    on: date
    driver: Version
    branch: DriverBranch
    gpus: tuple[Gpu, ...]
    toolkits: tuple[Toolkit, ...]
    platform: Platform | None

    @property
    def native_cuda(self) -> Version:
        """The toolkit that the branch ships with."""
        return parse_prefix(self.branch.cuda)

    def components(self, name: str) -> tuple[Component, ...]:
        """The components of that name: none where it was not named."""
        return tuple(one for one in self.setup.components if one.name == name)


def understand(setup: Setup, facts: CompatibilityFacts, on: date) -> Asked:
    """Find every word in the facts; raise UnknownWordsError with all that are not there."""
    problems: list[Problem] = []
    branch = _branch(setup.driver, facts, problems)
    gpus = [_gpu(word, ("gpus", at), facts, problems) for at, word in enumerate(setup.gpus)]
    toolkits = [_toolkit(word, ("cuda", at), facts, problems) for at, word in enumerate(setup.cuda)]
    platform = _platform(setup.platform, facts, problems) if setup.platform else None
    _check_versions(setup, facts, problems)
    if not setup.gpus:
        problems.append(Problem(("gpus",), "no GPU is named", "name the GPUs of the node, for example H100"))
    if problems or branch is None:
        raise UnknownWordsError(problems)
    return Asked(
        facts=facts,
        setup=setup,
        on=on,
        driver=parse_version(setup.driver),
        branch=branch,
        gpus=tuple(sorted({one for one in gpus if one}, key=lambda one: one.name)),
        toolkits=tuple(sorted({one for one in toolkits if one}, key=lambda one: one.number)),
        platform=platform,
    )


def _branch(driver: str, facts: CompatibilityFacts, problems: list[Problem]) -> DriverBranch | None:
    known = {branch.branch: branch for branch in facts.driver_branches}
    number = driver.partition(".")[0].upper().removeprefix("R")
    branch = known.get(int(number)) if number.isascii() and number.isdecimal() and len(number) < 6 else None
    if branch is None:
        names = ", ".join(f"R{one}" for one in known)
        problems.append(Problem(("driver",), f'driver "{driver}" is of no known branch', f"known: {names}"))
    elif not _is_version(driver):
        newest = branch.last_seen or branch.first_seen
        example = f": {newest.version} is the newest known of R{branch.branch}" if newest else ""
        problems.append(Problem(("driver",), f'driver "{driver}" is not a version', f"write it whole{example}"))
    return branch


def _gpu(word: str, at: tuple[str | int, ...], facts: CompatibilityFacts, problems: list[Problem]) -> Gpu | None:
    wanted = _fold(word)
    architectures = {one.name: one for one in facts.architectures.list}
    for model in facts.gpus.list:
        if _fold(model.name) == wanted:
            return Gpu(model.name, (architectures[model.architecture],), model.coherent, model.data_centre)
    capability = wanted.removeprefix("SM_")
    capability = f"{capability[:-1]}.{capability[-1]}" if capability.isdecimal() and len(capability) > 1 else capability
    for name, found in (
        (capability, tuple(one for one in architectures.values() if capability in one.capabilities)),
        *((one.name, (one,)) for one in architectures.values() if _fold(one.name) == wanted),
    ):
        if found:
            models = _models(facts, found, capability if name == capability else None)
            coherent = _agreed(one.coherent for one in models)
            return Gpu(name, found, coherent, _agreed(one.data_centre for one in models))
    names = [*(one.name for one in facts.gpus.list), *architectures]
    problems.append(Problem(at, f'GPU "{word}" is not known', _nearest(wanted, names)))
    return None


def _models(
    facts: CompatibilityFacts, architectures: tuple[Architecture, ...], capability: str | None
) -> list[GpuModel]:
    names = {one.name for one in architectures}
    found = [one for one in facts.gpus.list if one.architecture in names]
    return [one for one in found if one.capability == capability] if capability else found


def _agreed(answers: Iterable[bool | None]) -> bool | None:
    """What all say; None when they differ or nobody says anything."""
    different = set(answers)
    return different.pop() if len(different) == 1 else None


def _toolkit(
    word: str, at: tuple[str | int, ...], facts: CompatibilityFacts, problems: list[Problem]
) -> Toolkit | None:
    if word in facts.toolkits.previews:
        return Toolkit(word, parse_prefix(word), None, facts.toolkits.previews[word])
    releases = {parse_prefix(name): (name, floor) for name, floor in facts.toolkits.releases.items()}
    wanted = _numbers(word)
    found = sorted(number for number in releases if len(wanted) > 1 and number[: len(wanted)] == wanted)
    if found:
        name, floor = releases[found[0]]
        return Toolkit(name, found[0], parse_version(floor) if floor else None)
    minors = dict.fromkeys(".".join(map(str, number[:2])) for number in sorted(releases))
    problems.append(Problem(at, f'CUDA toolkit "{word}" is not known', f"known: {', '.join(minors)}"))
    return None


def _platform(word: str, facts: CompatibilityFacts, problems: list[Problem]) -> Platform | None:
    platforms = {one.name: one for one in facts.platforms}
    if word.lower() not in platforms:
        hint = _nearest(word, platforms)
        problems.append(Problem(("platform",), f'platform "{word}" is not known', hint))
    return platforms.get(word.lower())


def _check_versions(setup: Setup, facts: CompatibilityFacts, problems: list[Problem]) -> None:
    lockstep = facts.lockstep
    known = (*lockstep.exact, *lockstep.recommended, *lockstep.documented, "dcgm", "nvidia-fs")
    for component in setup.components:
        at = ("components", component.name)
        if component.name not in known:
            hint = _nearest(component.name, known)
            problems.append(Problem(at, f'component "{component.name}" is not known', hint))
        if not _is_version(component.version):
            message = f'version "{component.version}" of {component.name} is not numbers between dots'
            problems.append(Problem(at, message, "write it as its package has it"))
    if setup.kernel is not None and not _is_version(setup.kernel):
        problems.append(
            Problem(("kernel",), f'kernel "{setup.kernel}" is not a version', "write it as uname -r says it")
        )
    if setup.forward_package is not None and len(_numbers(setup.forward_package)) != 2:
        message = f'"{setup.forward_package}" names no compatibility package'
        problems.append(Problem(("forward_package",), message, 'write "13.0" for cuda-compat-13-0'))


def _is_version(text: str) -> bool:
    try:
        parse_version(text)
    except ValueError:
        return False
    return True


def _numbers(word: str) -> Version:
    parts = word.split(".")
    return tuple(map(int, parts)) if all(one.isascii() and one.isdecimal() and len(one) < 6 for one in parts) else ()


def _fold(word: str) -> str:
    return " ".join(word.upper().removeprefix("NVIDIA ").removeprefix("TESLA ").split())


def _nearest(word: str, names: Iterable[str]) -> str:
    folded = {_fold(name): name for name in names}
    longer = [name for name in folded if name.startswith(_fold(word))]
    nearest = longer if len(longer) == 1 else difflib.get_close_matches(_fold(word), folded, n=1)
    return f'did you mean "{folded[nearest[0]]}"?' if nearest else f"known: {', '.join(folded.values())}"
