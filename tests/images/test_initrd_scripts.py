"""The scripts of the initrd are plain POSIX shell, and one look of shellcheck finds nothing in them."""

import shutil
import subprocess

from tests.images.initrd_shell import SCRIPTS
from tests.requirements import need


def test_shellcheck_finds_nothing() -> None:
    need(shutil.which("shellcheck"), "needs the Debian package shellcheck")
    for name in ("firstlight", "hook"):
        ran = subprocess.run(["shellcheck", "-x", name], cwd=SCRIPTS, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout


def test_the_unit_is_one_that_systemd_takes() -> None:
    need(shutil.which("systemd-analyze"), "needs the Debian package systemd")
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(SCRIPTS / "firstlight-agent.service")],
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
