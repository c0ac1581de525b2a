"""What a client asks of the update service, and the images that wait until somebody says go."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from emulator.machine.board import Board
from emulator.package import Header, Image
from emulator.persona.firmware import Slot

Load = Callable[[], Awaitable[Image]]


@dataclass(frozen=True, slots=True)
class Order:
    """One update. `targets` None: every device of the package's class; `group`: those of these that are of its class.

    `reboots`: the host is restarted when the image is there.
    `window`: when a maintenance window begins and ends, in seconds since 1970.
    """

    load: Load
    targets: tuple[Slot, ...] | None = None
    group: bool = False
    apply: str = "Immediate"
    force: bool = False
    stage_only: bool = False
    reboots: bool = False
    window: tuple[float, float] | None = None
    name: str = "Firmware update"
    request_path: str = ""
    request_body: str = ""


@dataclass(slots=True)
class PushOptions:
    """What clients set for the next push to HttpPushUri."""

    targets: list[str] = field(default_factory=list)
    targets_busy: bool = False
    apply: str = "Immediate"
    force: bool = False
    busy: bool = False


@dataclass(frozen=True, slots=True)
class Upload:
    """An image that the BMC holds. `targets` are keys of slots; None: every device of its class.

    `waits`: StartUpdate begins it; without, it is an entry `Available-...` of the inventory.
    """

    headers: tuple[Header, ...]
    size_bytes: int
    targets: tuple[str, ...] | None = None
    group: bool = False
    force: bool = False
    waits: bool = True
    request_path: str = ""
    request_body: str = ""


class Uploads:
    """The images that wait; they outlive a restart of the BMC."""

    def __init__(self, board: Board) -> None:
        """As the board remembers them."""
        self._board = board

    def listing(self) -> list[Upload]:
        """All of them, oldest first."""
        return [_read(kept) for kept in self._board.state.uploads]

    def add(self, upload: Upload) -> None:
        """Keep one; it replaces what waits for the same devices."""
        others = [one for one in self.listing() if one.headers[:1] != upload.headers[:1] or one.waits != upload.waits]
        self._write([*others, upload])

    def remove(self, upload: Upload) -> None:
        """It waits no more."""
        self._write([one for one in self.listing() if one != upload])

    def _write(self, uploads: list[Upload]) -> None:
        self._board.state.uploads = [asdict(one) for one in uploads]
        self._board.save()


def _read(kept: dict[str, Any]) -> Upload:
    targets = kept["targets"]
    headers = tuple(Header(**one) for one in kept["headers"])
    return Upload(**{**kept, "headers": headers, "targets": None if targets is None else tuple(targets)})
