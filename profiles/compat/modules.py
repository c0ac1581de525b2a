"""Open or proprietary kernel modules: what the branch has, what the GPUs need, and what needs open ones."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, fine, refusal, unknown
from profiles.compat.architecture import spoken
from profiles.compat.asked import Asked, Gpu
from profiles.compat.kinds import ModuleFlavour, NeededModules, OpenModules

_OPEN, _PROPRIETARY = ModuleFlavour.OPEN, ModuleFlavour.PROPRIETARY
_BRANCH = {
    OpenModules.NONE: {_PROPRIETARY},
    OpenModules.OPTIONAL: {_OPEN, _PROPRIETARY},
    OpenModules.DEFAULT: {_OPEN, _PROPRIETARY},
    OpenModules.ONLY: {_OPEN},
}
_GPU = {
    NeededModules.PROPRIETARY_ONLY: {_PROPRIETARY},
    NeededModules.EITHER: {_OPEN, _PROPRIETARY},
    NeededModules.OPEN_ONLY: {_OPEN},
}


def kernel_modules(asked: Asked) -> Iterator[Answer]:
    """Is there one flavour that the branch has and every GPU takes?"""
    of_branch = _BRANCH[asked.branch.open_modules] if asked.branch.open_modules else None
    if of_branch is None:
        text = f"which kernel modules R{asked.branch.branch} brings is not established"
        yield unknown("branch-modules-unknown", text, asked.branch.sources)
    wanted = {asked.setup.modules} if asked.setup.modules else of_branch
    refused = of_branch is not None and wanted is not None and not wanted & of_branch
    if refused:
        yield _branch_has_not(asked, f"not the {asked.setup.modules} ones that are asked for")
    for gpu in asked.gpus:
        for answer in _for_gpu(asked, gpu, wanted):
            refused = True
            yield answer
    yield from _together(asked, refused=refused)


def modules_in_use(asked: Asked) -> ModuleFlavour | None:
    """What is, or would be, installed; None where it is not established."""
    if asked.setup.modules or asked.branch.open_modules is None:
        return asked.setup.modules
    possible = set(_BRANCH[asked.branch.open_modules])
    for gpu in asked.gpus:
        possible &= _possible(gpu)
    if len(possible) == 1:
        return possible.pop()
    return _PROPRIETARY if asked.branch.open_modules is OpenModules.OPTIONAL else _OPEN


def needs_open_modules(asked: Asked) -> Iterator[Answer]:
    """GPUDirect Storage and DMA-BUF."""
    facts, modules = asked.facts.gpu_direct, modules_in_use(asked)
    for use in sorted(asked.setup.uses & set(facts.need_open_modules)):
        text = f"{use} needs open kernel modules"
        if modules is _PROPRIETARY:
            yield refusal("use-needs-open-modules", f"{text}, not proprietary ones", facts.sources)
        elif modules is None:
            yield unknown("modules-in-use-unknown", f"{text}: say which modules are installed", facts.sources)
        else:
            yield fine("use-has-open-modules", text, facts.sources)


def gsp_firmware(asked: Asked) -> Iterator[Answer]:
    """Only the proprietary modules can leave the GPU's system processor out."""
    if asked.setup.gsp_firmware:
        return
    facts, modules = asked.facts.gsp_firmware, modules_in_use(asked)
    text = f"{facts.parameter}=0 is honoured by proprietary kernel modules only"
    if modules is _OPEN:
        text = f"{text}; open ones always run the GSP firmware: leave the parameter out"
        yield refusal("gsp-off-with-open-modules", text, facts.sources)
    elif modules is None:
        yield unknown("modules-in-use-unknown", f"{text}: say which modules are installed", facts.sources)
    else:
        yield fine("gsp-off", text, facts.sources)


def _for_gpu(asked: Asked, gpu: Gpu, wanted: set[ModuleFlavour] | None) -> Iterator[Answer]:
    """What keeps the wanted modules from driving the GPU; a word for several architectures may leave it open."""
    if wanted is None:
        return
    fitting = [one for one in gpu.architectures if wanted & _GPU[one.modules]]
    sources = asked.facts.architectures.module_sources
    if fitting and len(fitting) < len(gpu.architectures):
        names = " or ".join(one.name for one in gpu.architectures)
        text = f"{gpu.name} is {names}, which take different kernel modules: name the GPU"
        yield unknown("architecture-ambiguous", text, sources)
    elif not fitting:
        architecture = gpu.architectures[0]
        (needed,) = _GPU[architecture.modules]
        text = f"{spoken(gpu, architecture)} needs {needed} kernel modules"
        if asked.setup.modules is None:
            yield _branch_has_not(asked, f"but {text}")
        else:
            yield refusal(f"{needed}-modules-required", f"{text}, not {asked.setup.modules} ones", sources)


def _branch_has_not(asked: Asked, text: str) -> Answer:
    branch = asked.branch
    sources = (*branch.sources, *asked.facts.architectures.module_sources)
    if branch.open_modules is OpenModules.ONLY:
        return refusal("branch-has-open-only", f"R{branch.branch} has open kernel modules only, {text}", sources)
    return refusal("branch-has-no-open-modules", f"R{branch.branch} has no open kernel modules, {text}", sources)


def _together(asked: Asked, *, refused: bool) -> Iterator[Answer]:
    """One image holds one flavour: do all the GPUs take the same?"""
    sources = asked.facts.architectures.module_sources
    needs: dict[ModuleFlavour, list[str]] = {flavour: [] for flavour in ModuleFlavour}
    for gpu in asked.gpus:
        possible = _possible(gpu)
        if len(possible) == 1:
            needs[possible.pop()].append(gpu.name)
    if all(needs.values()):
        both = "; ".join(f"{', '.join(names)} {flavour}" for flavour, names in needs.items())
        yield refusal("no-modules-for-all-gpus", f"no kernel modules drive all the GPUs: two images ({both})", sources)
    elif not refused and modules_in_use(asked) is not None:
        text = f"{modules_in_use(asked)} kernel modules drive all the GPUs"
        yield fine("modules-drive-all-gpus", text, (*asked.branch.sources, *sources))


def _possible(gpu: Gpu) -> set[ModuleFlavour]:
    """What some architecture that the word may mean takes."""
    return {flavour for architecture in gpu.architectures for flavour in _GPU[architecture.modules]}
