"""Taking out what an image must not carry over from its build: histories, caches, names, random numbers."""

import os
import shutil
from pathlib import Path

from images.building.tree_path import inside

_EMPTIED = (
    *("/boot", "/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp", "/var/log", "/media", "/mnt"),  # noqa: S108
    *("/var/cache/apt", "/var/cache/debconf", "/var/cache/ldconfig", "/var/lib/apt/lists", "/var/lib/systemd/catalog"),
    *("/var/lib/dpkg/updates", "/var/lib/dbus", "/var/lib/chrony"),
)
_REMOVED = (
    *("/etc/.pwd.lock", "/etc/hostname", "/etc/mtab", "/vmlinuz", "/vmlinuz.old", "/initrd.img", "/initrd.img.old"),
    *("/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-"),
    *("/etc/apt/apt.conf.d/99mmdebstrap", "/etc/dpkg/dpkg.cfg.d/99mmdebstrap"),
    *("/var/lib/dpkg/status-old", "/var/lib/dpkg/statoverride-old", "/var/lib/dpkg/diversions-old"),
    *("/var/lib/dpkg/available", "/var/lib/dpkg/available-old", "/var/lib/dpkg/lock", "/var/lib/dpkg/lock-frontend"),
    *("/var/lib/systemd/random-seed", "/var/lib/systemd/credential.secret", "/root/.bash_history", "/root/.wget-hsts"),
    *("/var/lib/dpkg/triggers/Lock", "/var/lib/ucf/cache"),
)
_HOST_KEYS = "etc/ssh/ssh_host_*"


def clean(tree: Path) -> None:
    """Remove it all. Doing it again changes nothing."""
    for path in _EMPTIED:
        _empty(tree, path)
    for path in _REMOVED:
        place = inside(tree, path)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    for key in tree.glob(_HOST_KEYS):
        key.unlink()
    for folder, folders, files in os.walk(tree):
        if "__pycache__" in folders:
            shutil.rmtree(Path(folder, "__pycache__"))
            folders.remove("__pycache__")
        for name in (*folders, *files):
            _drop_access_lists(f"{folder}/{name}")


def _drop_access_lists(path: str) -> None:
    """A squashfs cannot hold them; systemd sets those of its journal at every boot."""
    for attribute in os.listxattr(path, follow_symlinks=False):
        if attribute.startswith("system.posix_acl_"):
            os.removexattr(path, attribute, follow_symlinks=False)


def _empty(tree: Path, path: str) -> None:
    """Remove what is in the folder. Files of /var/log go, its folders stay: services do not make them again."""
    folder = inside(tree, path)
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            if path == "/var/log":
                _empty(tree, f"{path}/{entry.name}")
            else:
                shutil.rmtree(entry)
        else:
            entry.unlink()
