"""The faults that are set on one machine, and how often each has happened."""

from collections.abc import Mapping
from typing import Any

from emulator.faults.catalog import read_fault
from emulator.faults.fault import Arguments


class ActiveFaults:
    """The faults of one machine. `spent` counts how often each has happened; it is kept with the machine's state."""

    def __init__(self, spent: dict[str, int]) -> None:
        """No fault is active yet."""
        self._spent = spent
        self._active: dict[str, dict[str, Any]] = {}

    def __bool__(self) -> bool:
        """Whether any fault was set."""
        return bool(self._active)

    def plant(self, setting: str | Mapping[str, Arguments | None]) -> None:
        """Set a fault that the machine has from the start; what it has done before counts."""
        name, arguments = read_fault(setting)
        self._active[name] = arguments

    def set(self, name: str, arguments: Arguments) -> None:
        """Set a fault now; it starts afresh. Raises ValueError for an unknown fault or argument."""
        name, complete = read_fault({name: arguments})
        self._spent.pop(name, None)
        self._active[name] = complete

    def clear(self, name: str) -> None:
        """Heal a fault; nothing happens when it is not there."""
        self._active.pop(name, None)

    def peek(self, name: str) -> Arguments | None:
        """The arguments of the fault while it is active, without spending it."""
        arguments = self._active.get(name)
        if arguments is None:
            return None
        times = arguments["times"]
        return arguments if times is None or self._spent.get(name, 0) < times else None

    def take(self, name: str) -> Arguments | None:
        """The arguments of the fault when it happens now; counts."""
        arguments = self.peek(name)
        if arguments is not None:
            self._spent[name] = self._spent.get(name, 0) + 1
        return arguments

    def listing(self) -> dict[str, dict[str, Any]]:
        """What is set, with arguments and how often each has happened."""
        return {name: {**arguments, "happened": self._spent.get(name, 0)} for name, arguments in self._active.items()}
