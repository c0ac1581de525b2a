"""Why there is no image. Nothing is published after any of these; what lay under the name before is still there."""

from dataclasses import dataclass
from pathlib import Path

from profiles.images.driver_check import ImageReason


class BuildFailedError(Exception):
    """A stage did not do its work. `log` holds all that its tools said."""

    def __init__(self, what: str, log: Path | None = None) -> None:
        """Say what failed, and where to read on."""
        self.what = what
        self.log = log
        super().__init__(f"{what}\nlog: {log}" if log else what)


class ImageRefusedError(Exception):
    """No choice of packages is what the profile asks for."""

    def __init__(self, reasons: tuple[ImageReason, ...]) -> None:
        """Take every reason."""
        self.reasons = reasons
        super().__init__("\n".join(one.text for one in reasons))


@dataclass(frozen=True, slots=True)
class Violation:
    """Something in the tree that no image may have. `path`: where, as the node would see it."""

    path: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.path}: {self.what}; {self.remedy}"


class TreeRefusedError(BuildFailedError):
    """The tree breaks rules; all of them are told at once."""

    def __init__(self, violations: tuple[Violation, ...], log: Path | None = None) -> None:
        """Take everything that is wrong."""
        self.violations = violations
        many = "1 rule" if len(violations) == 1 else f"{len(violations)} rules"
        told = "\n".join(f"  {one}" for one in violations)
        super().__init__(f"the image breaks {many}, nothing was published:\n{told}", log)
