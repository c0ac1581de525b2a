"""No fault without a test, and no test of a fault without the code that makes it happen."""

import re
from pathlib import Path

import pytest

from emulator.faults.listing import by_concern

TESTS = Path(__file__).parent
EMULATOR = TESTS.parents[1] / "emulator"
NAMES = [fault.name for _, fault in by_concern()]


def words_in(files: list[Path]) -> set[str]:
    """Every word with hyphens in these files."""
    return {word for file in files for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", file.read_text("utf-8"))}


@pytest.fixture(scope="module")
def tested() -> set[str]:
    return words_in([file for file in TESTS.glob("test_*.py") if file.name != Path(__file__).name])


@pytest.fixture(scope="module")
def taken() -> set[str]:
    catalogue = EMULATOR / "faults"
    files = [file for file in EMULATOR.rglob("*.py") if file.parent != catalogue or file.name == "inventory.py"]
    return words_in([*files, EMULATOR / "fault_rates.py"])


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_is_taken_somewhere_and_named_in_a_test(name: str, tested: set[str], taken: set[str]) -> None:
    """A fault that nothing takes does nothing; one that nothing tests may as well."""
    assert name in taken
    assert name in tested


def test_names_are_unique_and_sources_can_be_looked_up() -> None:
    """`owner/repository#number`, a release note, a file or a paper."""
    assert len(set(NAMES)) == len(NAMES)
    for _, fault in by_concern():
        assert re.search(r"[\w.-]+/[\w.-]+(#\d+|[,:] )|arXiv:", fault.source), f"{fault.name}: {fault.source}"
