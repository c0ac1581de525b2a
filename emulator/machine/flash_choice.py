"""What an update writes where: the parts of a package, the devices of their classes, what was asked for."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from emulator.machine.board import Board
from emulator.machine.firmware_slots import Slots
from emulator.machine.task_notes import update_note
from emulator.machine.tasks import Task
from emulator.machine.update_orders import Order
from emulator.package import Header, Image
from emulator.persona.firmware import Component, Slot


class Work(NamedTuple):
    """One component image and the devices that it goes to."""

    header: Header
    component: Component
    slots: tuple[Slot, ...]

    @property
    def image(self) -> str:
        """What messages call it."""
        return f"{self.header.component} {self.header.version}"


class Choice:
    """For one order; what it leaves out is said in its task."""

    def __init__(self, board: Board, slots: Slots, order: Order, task: Task) -> None:
        """Nothing is looked at yet."""
        self._board, self._slots, self._order, self._task = board, slots, order, task

    def works(self, image: Image) -> list[Work]:
        """What is to be written where. Raises ValueError when the package is not for what is here."""
        headers = image.headers()
        if any(header.sku for header in headers):
            return self._plan_board(headers)
        works = [self._work(header) for header in headers]
        if self._order.group:
            works = [work for work in works if work.slots]
        if not works or not all(work.slots for work in works):
            raise ValueError(f"the package is for {_names(image)}, and nothing here is")
        self._check_targets(works)
        for work in works:
            self._check(work)
        return works

    def _plan_board(self, headers: Sequence[Header]) -> list[Work]:
        """Of a package for a whole board: what is for devices that are here, and among the targets (DSP0267)."""
        components = self._board.persona.components
        skus = {component.sku: name for name, component in components.items() if component.sku}
        works = [self._work(replace(header, component=skus[header.sku])) for header in headers if header.sku in skus]
        works = [work for work in works if work.slots]
        if not works:
            image = ", ".join(f"{header.component} {header.version}" for header in headers)
            self._task.say(update_note("NoTargetsDetermined", image))
            told = ", ".join(dict.fromkeys(header.sku for header in headers))
            raise ValueError(
                f"the package is for devices with the SKU {told}, and none of the targets is such a device"
            )
        self._check_targets(works)
        works = [self._without_identical(work) for work in works]
        works = [work for work in works if work.slots]
        for work in works:
            self._check(work)
        return works

    def _without_identical(self, work: Work) -> Work:
        """A device takes no image that it has already, unless it is forced to (DSP0267, ComponentResponseCode)."""
        slots, version = self._slots, work.header.version
        if self._order.force:
            return work
        chosen = tuple(one for one in work.slots if (slots.staged(one.key) or self._board.version(one.key)) != version)
        if not chosen:
            self._task.say(update_note("NoTargetsDetermined", work.image))
        return work._replace(slots=chosen)

    def _work(self, header: Header) -> Work:
        persona = self._board.persona
        if header.hardware not in ("", persona.name):
            raise ValueError(f"the package is for {header.hardware}")
        name = _class_of(header.component, persona.components)
        candidates = self._order.targets
        if candidates is None:
            candidates = tuple(slot for slot in persona.slots.values() if slot.updateable)
        chosen = tuple(slot for slot in candidates if slot.component == name)
        return Work(replace(header, component=name), persona.components[name], chosen)

    def _check_targets(self, works: list[Work]) -> None:
        if self._order.targets is None or self._order.group:
            return
        covered = {slot.key for work in works for slot in work.slots}
        wrong = [slot.key for slot in self._order.targets if slot.key not in covered]
        if wrong:
            classes = ", ".join(work.header.component for work in works)
            raise ValueError(f"the package is for {classes}, which {', '.join(wrong)} is not")

    def _check(self, work: Work) -> None:
        update = self._board.persona.update
        copied = [slot.key for slot in work.slots if self._slots.copy.runs(slot.key)]
        if copied and update.during_copy == "refused":
            raise ValueError(f"{', '.join(copied)}: the second slot is still being copied")
        locked = [slot.key for slot in work.slots if self._slots.write_protected(slot)]
        if locked and update.write_protection == "enforced":
            raise ValueError(f"{', '.join(locked)} is write protected")
        if self._board.faults.peek("downgrade-blocked") and not self._order.force:
            newer = [
                slot.key for slot in work.slots if _order(self._board.version(slot.key)) > _order(work.header.version)
            ]
            if newer:
                self._board.faults.take("downgrade-blocked")
                raise ValueError(f"{', '.join(newer)}: older than what runs; ForceUpdate is needed")


def _class_of(name: str, components: dict[str, Component]) -> str:
    """The component class that a package calls `name`; unknown ones stay as they are and fit nothing."""
    for key, component in components.items():
        if name.casefold() in (key.casefold(), *(alias.casefold() for alias in component.names)):
            return key
    raise ValueError(f"the package is for {name}, and nothing here is")


def _names(image: Image) -> str:
    return ", ".join(header.component for header in image.headers())


def _order(version: str) -> list[tuple[int, str]]:
    """Numbers by their value, letters by the alphabet."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in re.findall(r"\d+|[A-Za-z]+", version)]
