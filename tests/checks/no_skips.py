"""A pytest plugin: where CI is set, a test that did not run is a test that failed. Skipped is not passed."""

import os
from collections.abc import Generator

import pytest
from _pytest.reports import BaseReport


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips, expected failures and unexpected passes of single tests into failures."""
    report = yield
    if os.environ.get("CI"):
        fail_unless_run(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn skips of whole modules into failures."""
    report = yield
    if os.environ.get("CI"):
        fail_unless_run(report)
    return report


def fail_unless_run(report: BaseReport) -> None:
    """Change a skipped or xfailed report in place so that it is a failure that gives the reason."""
    expected_failure = getattr(report, "wasxfail", None)
    if not report.skipped and expected_failure is None:
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else f"expected to fail: {expected_failure}"
    report.outcome = "failed"
    report.longrepr = f"In CI every test runs and passes. This one: {reason}"
    if expected_failure is not None:
        del report.wasxfail
