"""A fault: what a BMC or a host can do wrong, as data.

Every fault takes `times`: how often it happens before it heals (None: for ever). Faults of answers also take
`method` and `path`: only requests of that method whose path contains that text are hit (empty: all).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Arguments = Mapping[str, Any]

OF_ANSWERS: Arguments = {"method": "", "path": ""}


@dataclass(frozen=True, slots=True)
class Fault:
    """Named by its symptom; `effect` says what happens, `source` where it was seen, `arguments` the defaults.

    `choices`: the values that an argument may have, where not every one of its type does something.
    """

    name: str
    effect: str
    source: str
    arguments: Arguments = field(default_factory=dict)
    choices: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
