"""README.md says what works: its commands are the ones that the tests run."""

from tests.checks.commands import DEMO, DEMO_IN_BARE_DEBIAN, TEST, readme_commands


def test_install_and_test_are_two_commands() -> None:
    assert readme_commands() == [DEMO, TEST]


def test_the_bare_debian_runs_the_first_command() -> None:
    launcher = DEMO.removesuffix("demo")
    assert DEMO_IN_BARE_DEBIAN.startswith(launcher)
