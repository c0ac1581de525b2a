"""Being root, which trees with owners need: the user is, or becomes it in a user namespace of their own."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from images.building.failures import BuildFailedError

_OWN_NAMESPACE = ("unshare", "--map-root-user", "--map-auto", "--mount", "--")
_REMEDY = (
    "building images needs root, or a user namespace with many users: run it as root, or install the package uidmap "
    "and run once as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
)


def become_root(command: Sequence[str]) -> None:
    """Return when we are root. Otherwise run the command anew as root of a user namespace, and do not return.

    Raises BuildFailedError when this machine or user has no such namespace.
    """
    if os.geteuid() == 0:
        return
    why = refusal()
    if why:
        raise BuildFailedError(f"{why}; {_REMEDY.format(user=os.environ.get('USER', 'USER'))}")
    os.execvp(_OWN_NAMESPACE[0], [*_OWN_NAMESPACE, *command])  # noqa: S606 - the same command, as another user


def refusal() -> str:
    """Say why there is no user namespace with users to map; nothing when there is one."""
    if shutil.which("newuidmap") is None:
        return "newuidmap is not on this machine"
    ran = subprocess.run([*_OWN_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    return "" if ran.returncode == 0 else ran.stderr.strip() or "no user namespace"
