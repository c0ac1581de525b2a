"""What the demo shows while it runs, and what it says in the end."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live

from provisioner.commands.live import render
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.serving import Server
from provisioner.wiring import Running

_REFRESH_SECONDS = 0.5


@dataclass(slots=True)
class Show:
    """A live table on a terminal, a line per step elsewhere. `exit_when_ready`: stop when nobody has to wait."""

    console: Console
    exit_when_ready: bool
    started: float = field(default_factory=time.monotonic)
    nodes: Sequence[Node] = ()
    _last_event: int = 0

    async def beside(self, live: Running, server: Server) -> None:
        """Runs beside the server, until the server ends or everything is settled."""
        self.console.print(f"API: {live.site.url}  (token in {live.site.data_dir / 'admin-token'})", highlight=False)
        self._last_event = await self._newest(live)
        with Live(console=self.console, auto_refresh=False) as table:
            while True:
                self.nodes = await live.store.nodes.all()
                if self.console.is_terminal:
                    progress = await live.store.documents.progress()
                    clock = live.service.world.clock
                    table.update(render(self.nodes, progress, live.site.url, self._seconds, clock), refresh=True)
                else:
                    await self._lines(live)
                if self.exit_when_ready and self._settled:
                    return server.stop()
                await live.service.changes.wait(_REFRESH_SECONDS)

    def instructions(self) -> Iterator[str]:
        """What is left to people, one line per held node."""
        for node in self.nodes:
            if node.hold is not None:
                told = node.hold.instruction
                yield f"{node.name}: {node.hold.reason}\n  {told.owner}, {told.where}: {told.what}"

    def summary(self) -> str:
        """The last line: `16 ready, 0 held, 0.9 min`."""
        return f"{self.ready} ready, {self.held} held, {self._seconds / 60:.1f} min"

    @property
    def ready(self) -> int:
        """How many nodes are ready."""
        return sum(node.state is State.READY for node in self.nodes)

    @property
    def held(self) -> int:
        """How many nodes wait for a person."""
        return sum(node.hold is not None for node in self.nodes)

    @property
    def _settled(self) -> bool:
        return bool(self.nodes) and self.ready + self.held == len(self.nodes)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.started

    async def _lines(self, live: Running) -> None:
        for event in await live.store.events.after(self._last_event):
            self._last_event = event.id
            to = event.to_state or event.kind
            self.console.print(f"{self._seconds:6.1f} s  {event.node}  {to}: {event.reason}", highlight=False)

    async def _newest(self, live: Running) -> int:
        """A second run tells what is new only."""
        last = 0
        while events := await live.store.events.after(last):
            last = events[-1].id
        return last
