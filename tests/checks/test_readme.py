"""README.md says what works: its commands are the ones that the tests run."""

from provisioner.lifecycle.diagram import mermaid
from tests.checks.commands import DEMO, DEMO_IN_BARE_DEBIAN, TEST, readme_commands
from tests.checks.tree import ROOT


def test_install_and_test_are_two_commands() -> None:
    assert readme_commands() == [DEMO, TEST]


def test_the_bare_debian_runs_the_first_command() -> None:
    launcher = DEMO.removesuffix("demo")
    assert DEMO_IN_BARE_DEBIAN.startswith(launcher)


def test_the_diagram_is_the_lifecycle_table() -> None:
    """Drawn by `python -c "from provisioner.lifecycle.diagram import mermaid; print(mermaid())"`."""
    drawn = (ROOT / "README.md").read_text().split("```mermaid\n")[1].split("```")[0]
    assert drawn == mermaid()
