"""README.md's first command works on a stock Debian 12 with nothing but the packages that README.md names."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.checks.bare_debian import NAMESPACES, apt_sources, make_tarball, run_inside, unpack
from tests.checks.commands import DEMO_IN_BARE_DEBIAN
from tests.checks.tree import copy_checkout

PACKAGES = ("ca-certificates", "pipx", "python3")
CHECKOUT = "/root/firstlight"


def reason_to_skip() -> str | None:
    """Return why no bare Debian can be made on this machine."""
    if os.geteuid() != 0:
        return "needs root: it mounts and changes its root"
    if shutil.which("mmdebstrap") is None:
        return "needs mmdebstrap"
    if not apt_sources():
        return "needs apt sources of Debian 12 on this machine"
    if subprocess.run([*NAMESPACES, "true"], capture_output=True).returncode:
        return "needs the right to make mount and process namespaces"
    return None


REASON = reason_to_skip()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("heavy"),
]


@dataclass(frozen=True)
class BareDebian:
    """An unpacked root with the checkout in it."""

    root: Path
    variables: dict[str, str] = field(repr=False)  # a proxy or an index may hold a password

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command line in the checkout."""
        return run_inside(self.root, CHECKOUT, shlex.split(command), self.variables)


@pytest.fixture(scope="module")
def bare_debian() -> Iterator[BareDebian]:
    """Make the root in a folder that goes away at once: it is large."""
    with tempfile.TemporaryDirectory(prefix="bare-debian-") as folder:
        root = Path(folder)
        variables = unpack(make_tarball(PACKAGES), root)
        copy_checkout(root / CHECKOUT.lstrip("/"))
        yield BareDebian(root, variables)


def test_the_first_command_of_the_readme_works(bare_debian: BareDebian) -> None:
    run = bare_debian.run(DEMO_IN_BARE_DEBIAN)
    assert run.returncode == 0, run.stdout


def test_plain_pip_is_refused(bare_debian: BareDebian) -> None:
    """PEP 668: this is why README.md says pipx. Debian brings pip as a wheel for venv, so nothing else is installed."""
    run = bare_debian.run("sh -c 'PYTHONPATH=$(echo /usr/share/python-wheels/pip-*.whl) python3 -m pip install .'")
    assert run.returncode != 0
    assert "externally-managed-environment" in run.stdout
