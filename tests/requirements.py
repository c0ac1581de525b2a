"""What a test needs of the machine: missing on a person's machine, the test is skipped; in CI it fails."""

import os

import pytest


def need(condition: object, reason: str) -> None:
    """Skip the test, or fail it in CI, unless `condition` holds; `reason` says what is missing."""
    if condition:
        return
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(reason)
    pytest.skip(reason)
