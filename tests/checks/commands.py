"""The commands that README.md promises; the one place to change them."""

from tests.checks.tree import ROOT

# The first command of README.md: what a person types in a checkout on a stock Debian 12.
DEMO = "pipx run uv run firstlight demo"
TEST = "tests/run"

# What the bare Debian runs: the same, smaller and quicker, and it ends.
DEMO_IN_BARE_DEBIAN = f"{DEMO} --exit-when-ready --racks 1 --trays 3 --speed 600"


def readme_commands() -> list[str]:
    """Return the lines of the code blocks in README.md's section "Install and test"."""
    section = (ROOT / "README.md").read_text().split("## Install and test\n")[1].split("\n## ")[0]
    blocks = section.split("```sh\n")[1:]
    return [line for block in blocks for line in block.split("```")[0].splitlines()]
