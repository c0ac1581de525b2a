"""Virtual media: what is in the drives that the BMC shows to its host. Kept with the machine's state."""

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from emulator.machine.board import Board
from emulator.persona.media import media_types

_SERVES = {"Cd": ("CD", "DVD"), "UsbCd": ("CD", "DVD"), "Usb": ("USBStick",), "Floppy": ("Floppy",)}

ConnectedVia = Literal["NotConnected", "URI"]


class MediaError(Exception):
    """The drive cannot do that; the message says why."""


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive; `image` is empty while nothing is inserted."""

    id: str
    media_types: tuple[str, ...]
    image: str = ""
    write_protected: bool = True

    @property
    def inserted(self) -> bool:
        """Whether an image is in it."""
        return bool(self.image)

    @property
    def connected_via(self) -> ConnectedVia:
        """As VirtualMedia shows it."""
        return "URI" if self.image else "NotConnected"

    @property
    def image_name(self) -> str:
        """The file name of the image."""
        return urlsplit(self.image).path.rpartition("/")[2] if self.image else ""


class VirtualMedia:
    """The drives of one machine."""

    def __init__(self, board: Board) -> None:
        """As the board remembers them."""
        self._board = board

    @property
    def drives(self) -> tuple[Drive, ...]:
        """All drives, in the persona's order."""
        return tuple(self._drive(identity) for identity in self._board.persona.services.virtual_media)

    def insert(self, identity: str, image: str, *, write_protected: bool = True) -> None:
        """Put an image in. Raises MediaError for an unknown drive, one that is full, or an address that is none."""
        if self.drive(identity).inserted:
            raise MediaError(f"{identity} holds an image already: eject it first")
        parts = urlsplit(image)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise MediaError("the image is no http:// or https:// address")
        self._board.state.media[identity] = {"image": image, "write_protected": write_protected}
        self._board.save()

    def eject(self, identity: str) -> None:
        """Take the image out; nothing happens when there is none. Raises MediaError for an unknown drive."""
        if self.drive(identity).inserted:
            del self._board.state.media[identity]
            self._board.save()

    def drive(self, identity: str) -> Drive:
        """One drive; raises MediaError for an unknown one."""
        known = self._board.persona.services.virtual_media
        if identity not in known:
            raise MediaError(f"there is no drive {identity}; known: {', '.join(known) or 'none'}")
        return self._drive(identity)

    def image_for(self, target: str) -> str | None:
        """The image that a boot from `target` (Cd, UsbCd, Usb, Floppy) finds; None when there is none."""
        wanted = _SERVES.get(target, ())
        full = (drive for drive in self.drives if drive.inserted and set(drive.media_types) & set(wanted))
        return next((drive.image for drive in full), None)

    def truth(self) -> dict[str, Any]:
        """What is inserted, by drive."""
        return {drive.id: drive.image for drive in self.drives if drive.inserted}

    def _drive(self, identity: str) -> Drive:
        kept = self._board.state.media.get(identity, {})
        return Drive(identity, media_types(identity), **kept)
