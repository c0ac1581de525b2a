"""The checkout as the checks see it: the files that are, or are about to be, checked in."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "emulator", "images", "profiles", "provisioner")


def checked_in_files(*patterns: str) -> list[Path]:
    """Return the files that git tracks or would add, sorted and relative to ROOT; `patterns` are git's own."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {Path(name) for name in listed.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def copy_checkout(target: Path) -> None:
    """Copy the checked-in files to `target`: what a fresh clone would hold, without its history."""
    for name in checked_in_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
