"""pytest fixtures: fleets that start when a test asks for them and end with it.

Put `pytest_plugins = ["emulator.testing"]` into conftest.py. Nothing loads this by itself.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from emulator.testing import EmulatedFleet

StartFleet = Callable[..., EmulatedFleet]


@pytest.fixture
def emulated_fleet() -> Iterator[StartFleet]:
    """Starts fleets: `fleet = emulated_fleet([Bmc("dell-xe9680")], speed=60)`; the arguments are EmulatedFleet's."""
    yield from _fleets()


@pytest.fixture(scope="session")
def shared_emulated_fleet() -> Iterator[StartFleet]:
    """The same for fleets that live until the last test, for fixtures of a wider scope."""
    yield from _fleets()


def _fleets() -> Iterator[StartFleet]:
    with ExitStack() as running:

        def start(*arguments: Any, **named: Any) -> EmulatedFleet:
            return running.enter_context(EmulatedFleet(*arguments, **named))

        yield start
