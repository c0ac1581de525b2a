"""Fixtures for every test."""

pytest_plugins = ["tests.conformance.summary", "tests.postgres"]
