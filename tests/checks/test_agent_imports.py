"""The agent runs on a node that has Python and nothing else."""

import ast
import sys

from tests.checks.tree import ROOT, checked_in_files


def imported_modules(source: str) -> set[str]:
    """Return the full names of the modules that a module imports anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "." * node.level)
    return names


def is_on_the_node(module: str) -> bool:
    """Tell whether a module is Python's own or the agent's."""
    return module.split(".")[0] in sys.stdlib_module_names or f"{module}.".startswith("images.agent.")


def test_the_agent_imports_the_standard_library_only() -> None:
    sources = {name: (ROOT / name).read_text() for name in checked_in_files("images/agent/*.py")}
    assert sources
    foreign = {
        f"{name}: {module}"
        for name, source in sources.items()
        for module in imported_modules(source)
        if not is_on_the_node(module)
    }
    assert not foreign
