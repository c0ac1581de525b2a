"""What the stage is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from images.boot_program.signing import SigningPair
from images.modules.errors import ModuleError
from profiles.images.lock import Lock, LockedModules


@dataclass(frozen=True, slots=True)
class ModuleStage:
    """Build the modules of a lock.

    `repository`: a folder with Packages and the .deb files of exactly `lock.modules`: its tree and its source.
    `cache`: compiled modules are kept there, and logs. `say`: one line for people about what takes long.
    """

    lock: Lock
    repository: Path
    cache: Path
    signing: SigningPair
    say: Callable[[str], None]

    @property
    def modules(self) -> LockedModules:
        """Raises ModuleError for a lock that needs no stage."""
        if self.lock.modules is None:
            raise ModuleError(f"{self.lock.image}: its lock has no modules to build; write delivery: stage")
        return self.lock.modules
