"""What a .deb file says of itself, read by dpkg-deb."""

import subprocess
from pathlib import Path


class DebError(ValueError):
    """The file is no package."""


def control(path: Path) -> str:
    """Return the control paragraph of a package, with one line end; raises DebError with the words of dpkg-deb."""
    try:
        done = subprocess.run(["dpkg-deb", "--field", str(path)], capture_output=True, check=False, timeout=120)
    except FileNotFoundError as error:
        raise DebError("dpkg-deb is not installed; build images on Debian") from error
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise DebError(f"{path} is no package that can be read: {words[0] if words else 'dpkg-deb failed'}")
    return done.stdout.decode(errors="replace").rstrip("\n") + "\n"
