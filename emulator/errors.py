"""What can go wrong in the emulator itself.

EmulatorError
└── ConfigError    a file or an option is wrong; nothing was started (exit status 2)

What a BMC answers to a client is no error of the emulator: see redfish/errors.py.
"""


class EmulatorError(Exception):
    """The emulator cannot do what it was asked to do."""


class ConfigError(EmulatorError):
    """A file, an option or an address is unusable; the message says where and what would do."""
