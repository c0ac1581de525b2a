"""What no image may hold, whatever its profile says."""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from images.building.failures import Violation
from images.building.secret_scan import account_passwords, secrets_in_file
from images.building.tree_path import inside, shown

PRIVILEGED = frozenset(
    {
        *("/usr/bin/chage", "/usr/bin/chfn", "/usr/bin/chsh", "/usr/bin/crontab", "/usr/bin/expiry"),
        *("/usr/bin/fusermount3", "/usr/bin/gpasswd", "/usr/bin/mount", "/usr/bin/newgrp", "/usr/bin/passwd"),
        *("/usr/bin/ping", "/usr/bin/ssh-agent", "/usr/bin/su", "/usr/bin/sudo", "/usr/bin/umount"),
        *("/usr/bin/wall", "/usr/bin/write", "/usr/bin/nvidia-modprobe", "/usr/bin/newuidmap", "/usr/bin/newgidmap"),
        *("/usr/lib/dbus-1.0/dbus-daemon-launch-helper", "/usr/lib/openssh/ssh-keysign"),
        *("/usr/lib/polkit-1/polkit-agent-helper-1", "/usr/bin/pkexec", "/usr/sbin/unix_chkpwd"),
    }
)
"""Programs of Debian and NVIDIA that run with more rights than who calls them, and have to."""

_COMPILERS = (
    *(
        "cc",
        "c++",
        "c89",
        "c99",
        "gcc",
        "gcc-*",
        "g++",
        "g++-*",
        "*-linux-gnu-gcc*",
        "*-linux-gnu-g++*",
        "clang*",
        "cpp",
    ),
    *("cpp-*", "tcc", "nvcc", "rustc", "ghc", "go", "gfortran*", "as", "ld", "ld.bfd", "ld.gold", "make", "dkms"),
)
_PROGRAMS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/local/cuda/bin")
_MACHINE_IDS = ("", "uninitialized\n")
_NAMELESS = ("/etc/hostname", "/var/lib/dbus/machine-id", "/var/lib/systemd/random-seed")


def check_tree(tree: Path) -> list[Violation]:
    """Return everything that is wrong with the tree, in the order of paths."""
    found = [*_machine(tree), *_compilers(tree), *account_passwords(tree)]
    for folder, folders, names in os.walk(tree):
        for name in (*folders, *names):
            place = Path(folder, name)
            status = place.lstat()
            if stat.S_ISLNK(status.st_mode):
                continue
            found += _rights(tree, place, status)
            if stat.S_ISREG(status.st_mode):
                found += _leftovers(tree, place)
                found += secrets_in_file(tree, place)
    return sorted(found, key=lambda one: (one.path, one.what))


def _machine(tree: Path) -> Iterator[Violation]:
    machine_id = inside(tree, "/etc/machine-id")
    text = machine_id.read_text(encoding="utf-8") if machine_id.is_file() else None
    if text not in _MACHINE_IDS:
        what = "is missing" if text is None else "holds an identity, which every node would share"
        yield Violation("/etc/machine-id", what, 'leave it empty, or "uninitialized"')
    for path in _NAMELESS:
        if inside(tree, path).exists():
            yield Violation(path, "is of one machine, and every node would share it", "take it out of files")


def _compilers(tree: Path) -> Iterator[Violation]:
    for folder in _PROGRAMS:
        place = inside(tree, folder)
        for program in sorted(place.iterdir()) if place.is_dir() else ():
            if any(fnmatch(program.name, pattern) for pattern in _COMPILERS):
                yield Violation(shown(tree, program), "is a compiler or part of one", "take out what installs it")


def _rights(tree: Path, place: Path, status: os.stat_result) -> Iterator[Violation]:
    path = shown(tree, place)
    if stat.S_ISREG(status.st_mode) and path not in PRIVILEGED:
        if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
            what = f"runs with the rights of its owner (mode {stat.S_IMODE(status.st_mode):04o})"
            yield Violation(path, what, f"take the package out, or clear the bits with a file of mode 0755 at {path}")
        if "security.capability" in os.listxattr(place, follow_symlinks=False):
            yield Violation(path, "has capabilities of its own", "take the package out")
    if stat.S_ISBLK(status.st_mode) or stat.S_ISCHR(status.st_mode):
        yield Violation(path, "is a device", "take it out; /dev is the kernel's")
    open_to_all = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
    if open_to_all and not stat.S_ISSOCK(status.st_mode):
        yield Violation(path, "can be changed by everybody", "correct its mode in files")


def _leftovers(tree: Path, place: Path) -> Iterator[Violation]:
    if place.suffix == ".pyc":
        yield Violation(shown(tree, place), "is compiled Python, and differs with the build", "leave the source only")
    if place.match("etc/ssh/ssh_host_*"):
        yield Violation(shown(tree, place), "is a host key, which every node would share", "take it out")
