"""How much a property is tried: little enough for every run of the tests, and the same examples each time in CI."""

import os

from hypothesis import HealthCheck, settings


def bounded(examples: int) -> settings:
    """So many examples; a failure prints the line that reproduces it."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize="CI" in os.environ,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
