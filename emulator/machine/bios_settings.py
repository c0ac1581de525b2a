"""BIOS attributes: current ones, and pending ones that the next boot of the host applies."""

from collections.abc import Mapping

from emulator.machine.board import Board
from emulator.persona.bios import Attribute


class BiosSettings:
    """The BIOS attributes of one host."""

    def __init__(self, board: Board) -> None:
        """As the board remembers them."""
        self._board = board

    @property
    def current(self) -> dict[str, Attribute]:
        """What the host runs with."""
        return {**self._board.persona.factory_bios, **self._board.state.bios}

    @property
    def pending(self) -> dict[str, Attribute]:
        """What the next boot will apply."""
        return dict(self._board.state.bios_pending)

    @property
    def rejected(self) -> list[str]:
        """What the last boot refused to apply."""
        return list(self._board.state.bios_rejected)

    def stage(self, attributes: Mapping[str, Attribute]) -> None:
        """Keep these for the next boot, with what is pending already."""
        self._board.state.bios_pending.update(attributes)
        self._board.save()

    def stage_factory(self) -> None:
        """Let the next boot go back to the factory values."""
        factory = self._board.persona.factory_bios
        self._board.state.bios_pending = {name: factory[name] for name in self._board.state.bios}
        self._board.save()

    def apply(self) -> None:
        """The host boots: pending attributes become current, unless a fault keeps them out."""
        state = self._board.state
        if not state.bios_pending:
            return
        fault = self._board.faults.take("bios-late-rejection")
        refused = set(fault["attributes"] or state.bios_pending) if fault else set()
        state.bios_rejected = sorted(refused & set(state.bios_pending))
        accepted = {name: value for name, value in state.bios_pending.items() if name not in refused}
        factory = self._board.persona.factory_bios
        changed = {**state.bios, **accepted}
        state.bios = {name: value for name, value in changed.items() if value != factory[name]}
        state.bios_pending = {}
