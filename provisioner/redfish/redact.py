"""Secrets stay out of errors, also when a BMC repeats them ("the value 'hunter2' is not valid")."""

from collections.abc import Iterator
from contextlib import contextmanager

from provisioner.errors import BmcError


@contextmanager
def redacted(*secrets: str) -> Iterator[None]:
    """Replace each secret by `***` in the text of any `BmcError` that leaves the block."""
    try:
        yield
    except BmcError as error:
        for secret in secrets:
            if secret:
                error.message = error.message.replace(secret, "***")
        error.args = (f"{error.bmc}: {error.message}",)
        raise
