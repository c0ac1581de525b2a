"""Fixtures for every test."""

pytest_plugins = ["tests.conformance.summary", "tests.postgres"]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no part of a test's name: they may differ in every worker, as signatures do."""
    return argname if isinstance(val, bytes) else None
