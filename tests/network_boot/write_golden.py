"""Writes what is rendered now into golden/: `python -m tests.network_boot.write_golden`, then read the diff."""

from tests.network_boot.test_rendering import GOLDEN, RENDERED, anonymous

if __name__ == "__main__":
    for name, render in RENDERED.items():
        (GOLDEN / name).write_text(anonymous(render()))
