"""A module holds one idea, a function fits on a screen: 300 and 40 lines. What is longer is listed with its reason."""

import ast
from pathlib import Path

from tests.checks.tree import ROOT, checked_in_files

MODULE_LINES = 300
FUNCTION_LINES = 40

# path -> reason. An entry that is no longer needed fails.
LONG_MODULES: dict[str, str] = {}
# path::function -> reason. An entry that is no longer needed fails.
LONG_FUNCTIONS: dict[str, str] = {}


def python_sources() -> list[tuple[Path, str]]:
    """Return every checked-in Python module and its text."""
    return [(name, (ROOT / name).read_text()) for name in checked_in_files("*.py")]


def function_lengths(source: str) -> dict[str, int]:
    """Return name -> lines, from `def` to the last line; the longest one where names repeat."""
    lengths: dict[str, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            lengths[node.name] = max(lines, lengths.get(node.name, 0))
    return lengths


def test_modules_are_short() -> None:
    lengths = {str(name): len(source.splitlines()) for name, source in python_sources()}
    long = {name: lines for name, lines in lengths.items() if lines > MODULE_LINES}
    assert long.keys() == LONG_MODULES.keys(), long


def test_functions_are_short() -> None:
    lengths = {
        f"{name}::{function}": lines
        for name, source in python_sources()
        for function, lines in function_lengths(source).items()
    }
    long = {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES}
    assert long.keys() == LONG_FUNCTIONS.keys(), long


def test_exceptions_say_why() -> None:
    assert all(reason.strip() for reason in [*LONG_MODULES.values(), *LONG_FUNCTIONS.values()])
