"""Why a host did not boot."""


class BootError(Exception):
    """The host could not boot; `retry_after` is what the boot service asked for, in seconds."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        """`reason` is for people."""
        super().__init__(reason)
        self.retry_after = retry_after


class PowersOff(BootError):
    """What runs on the host has given up: it says why, and the host powers itself off instead of trying again."""


class LostPower(BootError):
    """Power went away, in the middle of it."""
