"""Does a driver go with these GPUs, toolkits, kernel modules and components? Pure: facts and a day in, a verdict out.

Every rule is asked, always; the verdict holds everything that any of them said, with the public documents behind it.
"""

from collections.abc import Callable, Iterator
from datetime import date

from profiles.compat import architecture, branch, fabric, host, memory_mode, modules, toolkit
from profiles.compat.answers import Answer, Verdict, cite, judge
from profiles.compat.asked import Asked, understand
from profiles.compat.facts import CompatibilityFacts
from profiles.compat.setup import Setup

Rule = Callable[[Asked], Iterator[Answer]]

RULES: dict[str, Rule] = {
    "branch type": branch.branch_type,
    "end of life": branch.end_of_life,
    "driver version": branch.driver_version,
    "kernel": branch.kernel,
    "gpu and driver": architecture.driver_window,
    "gpu and toolkit": architecture.toolkit_window,
    "toolkit and driver": toolkit.toolkits,
    "kernel modules": modules.kernel_modules,
    "open modules": modules.needs_open_modules,
    "gsp firmware": modules.gsp_firmware,
    "lockstep": fabric.lockstep,
    "platform": fabric.platform,
    "memory mode": memory_mode.memory_mode,
    "dcgm": host.dcgm,
    "gpudirect storage": host.storage,
    "peer memory": host.peer_memory,
}


def check(setup: Setup, facts: CompatibilityFacts, on: date) -> Verdict:
    """Ask every rule about the setup on one day; raise UnknownWordsError where words of it are not in the facts."""
    asked = understand(setup, facts, on)
    said = (cite(name, answer, facts.sources) for name, rule in RULES.items() for answer in rule(asked))
    return judge(said, setup.waived)
