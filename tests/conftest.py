"""Fixtures for every test."""

from hypothesis import settings

settings.register_profile("shared-machine", settings(deadline=None))
settings.load_profile("shared-machine")  # how long an example takes says nothing on a machine that others use too

pytest_plugins = ["tests.conformance.summary", "tests.postgres"]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no part of a test's name: they may differ in every worker, as signatures do."""
    return argname if isinstance(val, bytes) else None
