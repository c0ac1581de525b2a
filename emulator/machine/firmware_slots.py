"""The images that a machine's devices hold: what runs, what waits, what ran before; and how one becomes another."""

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from emulator.machine.background_copy import BackgroundCopy
from emulator.machine.board import Board
from emulator.persona.firmware import ACTIVATED_BY, Component, Slot
from emulator.tree.places import FIRMWARE_INVENTORY

_CUTS = {False: ("ac_cycle", "aux_cycle"), True: ("ac_cycle",)}
"""What reaches a chassis with a power domain of its own, by whether the mains alone do."""


class Slots:
    """The firmware slots of one machine.

    `refused` is called when a staged image does not start.
    """

    def __init__(self, board: Board) -> None:
        """As the board remembers them."""
        self._board = board
        self._inventory: dict[str, Slot] | None = None
        self._stale: dict[str, str] = {}  # what the BMC still says of a slot
        self.copy = BackgroundCopy(board)
        self.writing: tuple[str, ...] = ()
        self.refused: Callable[[str, str], None] = lambda _key, _version: None

    def inventory(self) -> dict[str, Slot]:
        """The slots by their inventory ids of now."""
        if self._inventory is None or self._board.faults.peek("inventory-renamed"):
            slots = self._board.persona.slots.values()
            self._inventory = {self._named(slot): slot for slot in slots}
        return self._inventory

    def component(self, key: str) -> Component:
        """The component class of a slot."""
        return self._board.persona.components[self._board.persona.slots[key].component]

    def staged(self, key: str) -> str | None:
        """The version that waits for its activation."""
        return self._board.state.staged.get(key)

    def previous(self, key: str) -> str | None:
        """What the other slot of the device holds while nothing is staged there."""
        return self._board.state.previous.get(key)

    def shown(self, slot: Slot) -> str:
        """The version that the BMC says it runs."""
        if self._board.faults.peek("pending-shown-as-current") and slot.key in self._board.state.staged:
            return self._board.state.staged[slot.key]
        return self._stale.get(slot.key) or self._board.version(slot.key)

    def write_protected(self, slot: Slot) -> bool | None:
        """WriteProtected of its entry; None: it has no such property."""
        written = self._board.state.written.get(f"{FIRMWARE_INVENTORY}/{slot.key}", {})
        return written.get("WriteProtected", slot.write_protected)

    def select(self, patterns: Sequence[str]) -> list[Slot]:
        """The devices whose inventory id is like one of `patterns` and that can be updated."""
        found = self.inventory().items()
        return [
            slot for name, slot in found if slot.updateable and any(fnmatchcase(name, pattern) for pattern in patterns)
        ]

    def stage(self, slots: Sequence[Slot], version: str, until: str | None = None) -> None:
        """A flash has ended: the version is in the slot that does not run; `until`: what it waits for."""
        state = self._board.state
        for slot in slots:
            counts = state.flashes.setdefault(slot.key, {})
            counts[version] = counts.get(version, 0) + 1
            state.staged[slot.key] = version
            if slot.key in state.damaged:
                state.damaged.remove(slot.key)
            if self.copy.runs(slot.key):
                self.copy.stop(slot.key)
                state.damaged.append(slot.key)
            if until:
                state.staged_until[slot.key] = until
            elif self.component(slot.key).activation == "none":
                self._run(slot.key)
                continue
            name = slot.inventory_id(self._board.version(slot.key))
            self._tell("AwaitToActivate", slot.key, version, name)
        self._board.save()

    def activate(self, cause: str) -> None:
        """Make what waits for `cause` run, and what waits for less: bmc_reset, host_reset, power_cycle and so on."""
        state = self._board.state
        for key in list(state.staged):
            if self._waits_for(key) in ACTIVATED_BY[cause] and not self._blocked(key, cause):
                self._run(key)

    def run_now(self, slots: Sequence[Slot]) -> None:
        """Make what is staged for these run, whatever they wait for."""
        for slot in slots:
            if slot.key in self._board.state.staged:
                self._run(slot.key)
        self._board.save()

    def interrupt(self) -> None:
        """Whatever is being written stays half written; a device with one slot then has nothing that runs."""
        state = self._board.state
        for key in self.writing:
            if not self.component(key).dual_slot:
                state.firmware[key] = self._board.persona.update.no_version
                state.staged.pop(key, None)
                self._inventory = None
        self.writing = ()
        self._board.save()

    def refresh(self) -> None:
        """The BMC reads every version anew."""
        self._stale = {}
        self._inventory = None

    def _waits_for(self, key: str) -> str:
        return self._board.state.staged_until.get(key, self.component(key).activation)

    def _blocked(self, key: str, cause: str) -> bool:
        faults, component = self._board.faults, self._board.persona.slots[key].component
        away = faults.peek("chassis-stays-old")
        if away and key.startswith(str(away["prefix"])) and cause not in _CUTS[bool(away["mains"])]:
            return True
        fault = faults.peek("activation-blocked")
        if fault and fault["component"] in ("", component):
            faults.take("activation-blocked")
            self.refused(key, self._board.state.staged[key])
            return True
        return False

    def _run(self, key: str) -> None:
        state, old = self._board.state, self._board.version(key)
        new = state.staged.pop(key)
        state.staged_until.pop(key, None)
        if key in state.damaged:
            state.damaged.remove(key)
            self.refused(key, new)
            return
        if self._board.faults.peek("inventory-stale"):
            self._stale.setdefault(key, old)
        state.firmware[key] = new
        state.previous[key] = old
        self._inventory = None
        name = self._board.persona.slots[key].inventory_id(new)
        self._tell("UpdateSuccessful", key, name, new)
        self._board.touch()
        self.copy.begin(key, self.component(key).background_copy_seconds)

    def _tell(self, message: str, key: str, *arguments: str) -> None:
        """An event of the Update registry about a slot."""
        slot = self._board.persona.slots[key]
        origin = f"{FIRMWARE_INVENTORY}/{slot.inventory_id(self._board.version(key))}"
        self._board.events.publish(f"Update.{message}", *arguments, origin=origin, topic="bmc")

    def _named(self, slot: Slot) -> str:
        name = slot.inventory_id(self.shown(slot))
        fault = self._board.faults.peek("inventory-renamed")
        if not fault:
            return name
        changed = any(self._is_new(key) for key in self._keys_of("bmc"))
        return name.replace(str(fault["old"]), str(fault["new"])) if changed else name

    def _keys_of(self, component: str) -> Iterator[str]:
        return (slot.key for slot in self._board.persona.slots.values() if slot.component == component)

    def _is_new(self, key: str) -> bool:
        return self._board.version(key) != self._board.persona.slots[key].version
