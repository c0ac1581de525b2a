"""`firstlight compat`: does a driver go with these GPUs, toolkits and components, and until when?"""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from profiles.compat.answers import Outcome
from profiles.compat.asked import UnknownWordsError
from profiles.compat.facts import CompatibilityFacts
from profiles.compat.kinds import MemoryMode, ModuleFlavour, Use
from profiles.compat.load import load_facts
from profiles.compat.setup import Component, Setup
from profiles.compatibility import check
from profiles.findings import ProfileError
from profiles.fleet import load_fleet
from profiles.horizon import horizon
from provisioner.commands.compat_text import explanation_text, horizon_text, rules_said, verdict_text
from provisioner.commands.console import say
from provisioner.errors import BadInput

compat_app = typer.Typer(
    help="Which NVIDIA drivers go with which GPUs, CUDA toolkits and components, and until when.", no_args_is_help=True
)

Driver = Annotated[str, typer.Option(metavar="VERSION", help="The whole version: 580.95.05.")]
Gpus = Annotated[list[str], typer.Option("--gpu", metavar="NAME", help="H100, Hopper or 9.0. May be repeated.")]
Cuda = Annotated[list[str] | None, typer.Option(metavar="VERSION", help="A toolkit of programs. May be repeated.")]
Modules = Annotated[ModuleFlavour | None, typer.Option(help="The kernel modules.")]
Platform = Annotated[str | None, typer.Option(metavar="NAME", help="hgx-h100, gb200-nvl72, pcie, ...")]
Memory = Annotated[MemoryMode | None, typer.Option(help="Who manages coherent GPU memory (Grace).")]
Version = Annotated[str | None, typer.Option(metavar="VERSION")]
Components = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VERSION", help="nvlsm, libnvidia-nscq, dcgm, nvidia-fs, ...")
]
Package = Annotated[str | None, typer.Option(metavar="X.Y", help="cuda-compat-X-Y is installed.")]
JitPtx = Annotated[bool, typer.Option("--jit-ptx", help="Programs bring PTX and no machine code.")]
GspOff = Annotated[bool, typer.Option("--gsp-off", help="NVreg_EnableGpuFirmware=0.")]
Uses = Annotated[list[Use] | None, typer.Option("--use", help="May be repeated.")]
Waived = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Accept a finding or an unknown by its name.")]
Day = Annotated[
    datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="Today where absent.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@compat_app.command("check", help="Say ok, or every reason why not. Exit codes: 0 ok, 1 not, 2 bad input.")
@compat_app.command("explain", help="The same question: what each rule said, and which document says so.")
def ask(
    context: typer.Context,
    driver: Driver,
    gpu: Gpus,
    cuda: Cuda = None,
    modules: Modules = None,
    platform: Platform = None,
    fabric_manager: Version = None,
    imex: Version = None,
    component: Components = None,
    memory_mode: Memory = None,
    kernel: Version = None,
    cuda_compat: Package = None,
    jit_ptx: JitPtx = False,
    gsp_off: GspOff = False,
    use: Uses = None,
    waive: Waived = None,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """One question for both commands."""
    setup = Setup(
        driver=driver,
        gpus=tuple(gpu),
        cuda=tuple(cuda or ()),
        jit_ptx=jit_ptx,
        forward_package=cuda_compat,
        modules=modules,
        platform=platform,
        components=_components(fabric_manager, imex, component or []),
        memory_mode=memory_mode,
        gsp_firmware=not gsp_off,
        kernel=kernel,
        uses=frozenset(use or ()),
        waived=frozenset(waive or ()),
    )
    _answer(setup, _date(day), explain=context.info_name == "explain", as_json=as_json)


@compat_app.command("horizon")
def ask_horizon(
    driver: Version = None,
    gpu: Annotated[list[str] | None, typer.Option(metavar="NAME", help="H100, Hopper or 9.0. May be repeated.")] = None,
    cuda: Cuda = None,
    modules: Modules = None,
    platform: Platform = None,
    memory_mode: Memory = None,
    fleet: Annotated[Path | None, typer.Option(metavar="FILE", help="Pools in YAML, instead of --driver.")] = None,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """What must move off its driver branch, by when, whereto, and what has nowhere to go."""
    facts = _facts()
    if (fleet is None) == (driver is None):
        raise BadInput("name one driver with --driver and its GPUs with --gpu, or many in a file with --fleet")
    one = Setup(driver or "", tuple(gpu or ()), tuple(cuda or ()))
    one = replace(one, modules=modules, platform=platform, memory_mode=memory_mode)
    try:
        pools = load_fleet(fleet, facts) if fleet else {"-": one}
        moves = horizon(pools, facts, _date(day))
    except (ProfileError, UnknownWordsError) as error:
        raise BadInput(str(error)) from error
    if as_json:
        typer.echo(orjson.dumps(moves, option=orjson.OPT_INDENT_2))
        return
    say(horizon_text(moves, _date(day), facts.compiled))


def _answer(setup: Setup, on: date, *, explain: bool, as_json: bool) -> None:
    """Print the verdict; exit 1 where it is not ok."""
    try:
        verdict = check(setup, _facts(), on)
    except UnknownWordsError as error:
        raise BadInput(str(error)) from error
    if as_json:
        told = {"rules": rules_said(verdict)} if explain else {"reasons": verdict.reasons}
        typer.echo(orjson.dumps({"outcome": verdict.outcome, **told}, option=orjson.OPT_INDENT_2))
    else:
        say(explanation_text(setup, verdict) if explain else verdict_text(setup, verdict))
    if verdict.outcome is not Outcome.OK:
        raise typer.Exit(1)


def _components(fabric_manager: str | None, imex: str | None, others: list[str]) -> tuple[Component, ...]:
    named = [("nvidia-fabricmanager", fabric_manager), ("nvidia-imex", imex)]
    for other in others:
        name, _, version = other.partition("=")
        if not version:
            raise BadInput(f'--component "{other}" has no version: write nvlsm=2025.06.11')
        named.append((name, version))
    return tuple(Component(name, version) for name, version in named if version)


def _facts() -> CompatibilityFacts:
    try:
        return load_facts()
    except ProfileError as error:
        raise BadInput(str(error)) from error


def _date(day: datetime | None) -> date:
    return day.date() if day else datetime.now(UTC).date()
