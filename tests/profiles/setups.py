"""Questions about drivers, written short."""

from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from profiles.compat.answers import Severity, Verdict
from profiles.compat.kinds import MemoryMode, ModuleFlavour, Use
from profiles.compat.load import load_facts
from profiles.compat.setup import Component, Setup
from profiles.compat.versions import parse_version
from profiles.compatibility import check

FACTS = load_facts()
DAY = date(2026, 11, 30)

BRANCHES = [str(branch.branch) for branch in FACTS.driver_branches]
SEEN = {seen.version for one in FACTS.driver_branches for seen in (one.first_seen, one.last_seen) if seen}
FLOORS = {floor for floor in FACTS.toolkits.releases.values() if floor}
VERSIONS = sorted(SEEN | FLOORS, key=parse_version)
GPUS = [
    *(model.name for model in FACTS.gpus.list),
    *(one.name for one in FACTS.architectures.list),
    *(capability for one in FACTS.architectures.list for capability in one.capabilities),
]
COMPONENTS = [*FACTS.lockstep.exact, *FACTS.lockstep.recommended, *FACTS.lockstep.documented, "dcgm", "nvidia-fs"]

drivers = st.one_of(
    st.sampled_from(VERSIONS),
    st.builds("{}.{}.{:02}".format, st.sampled_from(BRANCHES), st.integers(1, 400), st.integers(0, 99)),
)
gpus = st.sampled_from(GPUS)
toolkits = st.sampled_from([*FACTS.toolkits.releases, *FACTS.toolkits.previews])
packages = st.sampled_from(["11.8", "12.9", "13.0", "13.5"])
setups = st.builds(
    Setup,
    driver=drivers,
    gpus=st.lists(gpus, min_size=1, max_size=3).map(tuple),
    cuda=st.lists(toolkits, max_size=3).map(tuple),
    jit_ptx=st.booleans(),
    forward_package=st.none() | packages,
    modules=st.none() | st.sampled_from(ModuleFlavour),
    platform=st.none() | st.sampled_from([one.name for one in FACTS.platforms]),
    components=st.lists(st.builds(Component, st.sampled_from(COMPONENTS), drivers), max_size=3).map(tuple),
    memory_mode=st.none() | st.sampled_from(MemoryMode),
    gsp_firmware=st.booleans(),
    kernel=st.none() | st.sampled_from(["3.2.0", "4.18.0-553", "5.15.0", "6.12.48"]),
    uses=st.frozensets(st.sampled_from(Use)),
)
days = st.integers(-3000, 3000).map(lambda days: DAY + timedelta(days=days))


def setup(driver: str, gpus: str = "H100", **more: Any) -> Setup:
    """Return a setup; `gpus` and `cuda` between commas, `components` as `name=version` between spaces."""
    if "cuda" in more:
        more["cuda"] = tuple(more["cuda"].split(","))
    if "components" in more:
        pairs = (one.split("=") for one in more["components"].split())
        more["components"] = tuple(Component(name, version) for name, version in pairs)
    return Setup(driver=driver, gpus=tuple(gpus.split(",")), **more)


def verdict(driver: str, gpus: str = "H100", on: date = DAY, **more: Any) -> Verdict:
    return check(setup(driver, gpus, **more), FACTS, on)


def names(judged: Verdict, severity: Severity) -> set[str]:
    return {one.name for one in judged.said if one.severity is severity}
