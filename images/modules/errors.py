"""Why there are no modules.

ModuleError
├── ModuleUnreadableError   the bytes are no kernel module
├── SigningKeyError         the site's key cannot sign modules
└── StageFailedError        the stage did not yield a package
"""

from pathlib import Path


class ModuleError(Exception):
    """The text says what, where and what to do."""


class ModuleUnreadableError(ModuleError):
    """Not an ELF file of the kernel, or cut short; the text does not name the file, which its reader knows."""


class SigningKeyError(ModuleError):
    """Key and certificate are absent, unreadable, no pair, or of a kind that kernels do not take."""


class StageFailedError(ModuleError):
    """A tool of the stage failed. `log` holds all that it said."""

    def __init__(self, what: str, log: Path) -> None:
        """Say what failed, and where to read on."""
        self.what = what
        self.log = log
        super().__init__(f"{what}\nlog: {log}")
