"""What the update service of one BMC offers now: as its persona says, or less while a fault takes something away."""

from dataclasses import dataclass

from emulator.machine.board import Board
from emulator.tree.places import UPDATE_SERVICE

_ONLY_PUSH = f"{UPDATE_SERVICE}/push"


@dataclass(frozen=True, slots=True)
class Offers:
    """The transports. `most_bytes`: images are not larger; None: any size."""

    simple_update: bool
    multipart_uri: str | None
    push_uri: str | None
    two_step: bool
    most_bytes: int | None
    verifies_servers: bool

    def takes_packages(self, path: str) -> bool:
        """Whether packages are pushed to `path`."""
        return path in (self.multipart_uri, self.push_uri)


def offers(board: Board) -> Offers:
    """The transports of now."""
    update, faults = board.persona.update, board.faults
    limit = faults.peek("image-size-limit")
    only = faults.peek("only-http-push")
    most = int((limit or only or {"bytes": 0})["bytes"]) or update.max_image_bytes
    written = board.state.written.get(UPDATE_SERVICE, {})
    verifies = bool(written.get("VerifyRemoteServerCertificate", update.verify_server))
    if only:
        return Offers(
            simple_update=False,
            multipart_uri=None,
            push_uri=_ONLY_PUSH,
            two_step=False,
            most_bytes=most,
            verifies_servers=verifies,
        )
    return Offers(
        update.simple_update, update.multipart_uri, update.push_uri, update.two_step, most, verifies_servers=verifies
    )
