"""A pytest plugin: the last lines of a run say what each suite found about each persona."""

from collections.abc import Iterator
from typing import Any

from _pytest.terminal import TerminalReporter

from tests.conformance.expected import load_rules

LINE = "conformance: summary"
RULES = "conformance: rules used"


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print the lines that tests recorded, also those of other xdist workers."""
    lines = sorted(str(value) for value in _recorded(terminalreporter, LINE))
    if not lines:
        return
    terminalreporter.section("what DMTF's validators say")
    for line in lines:
        terminalreporter.write_line(line)
    used = {number for numbers in _recorded(terminalreporter, RULES) for number in numbers}
    unused = [rule for number, rule in enumerate(load_rules()) if number not in used]
    if unused:
        terminalreporter.write_line(f"{len(unused)} rules of expected.yaml covered nothing in this run:")
    for rule in unused:
        terminalreporter.write_line(f"  {', '.join(rule.suites)}: {rule.result} {rule.check} ({rule.says})")


def _recorded(terminalreporter: TerminalReporter, name: str) -> Iterator[Any]:
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            yield from (value for key, value in report.user_properties if key == name)
