"""What can go wrong in the emulator itself.

EmulatorError
└── ConfigError    a file or an option is wrong; nothing was started (exit status 2)

What a BMC answers to a client is no error of the emulator: see redfish/errors.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class EmulatorError(Exception):
    """The emulator cannot do what it was asked to do."""


class ConfigError(EmulatorError):
    """A file, an option or an address is unusable; the message says where and what would do."""


@contextmanager
def writing_into(directory: Path) -> Iterator[None]:
    """Whoever writes files inside has ConfigError raised when it cannot."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{error.filename or directory}: cannot be written: {error.strerror}") from error
