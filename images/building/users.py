"""Accounts that come in by key: lines of passwd, shadow and group. No account has a password."""

import os
from collections.abc import Iterator
from pathlib import Path

from images.building.failures import Violation
from images.building.tree_path import inside, make_folder, write
from profiles.images.debian import User

_PASSWD, _SHADOW, _GROUP, _GSHADOW = "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow"


def add_users(tree: Path, users: tuple[User, ...]) -> list[Violation]:
    """Add the accounts that can be added; return why others cannot."""
    found: list[Violation] = []
    for user in users:
        problems = list(_problems(tree, user))
        found += problems
        if not problems:
            _add(tree, user)
    return found


def settle_passwords(tree: Path, epoch: int) -> None:
    """Give every account the same day of its last change of password: the image's own."""
    day = str(epoch // 86400)
    changed = [[*fields[:2], day, *fields[3:]] for fields in _read(tree, _SHADOW)]
    _write(tree, _SHADOW, changed, 0o640)


def user_ids(tree: Path, name: str) -> tuple[int, int] | None:
    """Return user and group id of an account of the image; None when there is none of this name."""
    for fields in _read(tree, _PASSWD):
        if fields[0] == name:
            return int(fields[2]), int(fields[3])
    return None


def _problems(tree: Path, user: User) -> Iterator[Violation]:
    for fields in _read(tree, _PASSWD):
        if fields[0] == user.name:
            yield Violation(_PASSWD, f"user {user.name} is there already", "choose another name in users")
        elif fields[2] == str(user.uid):
            yield Violation(_PASSWD, f"uid {user.uid} of {user.name} is {fields[0]}'s", "choose another uid in users")
    groups = {fields[0] for fields in _read(tree, _GROUP)}
    for group in user.groups:
        if group not in groups:
            yield Violation(_GROUP, f"{user.name} is to be in {group}, which is no group", "install what brings it")
    if not inside(tree, user.shell).exists():
        yield Violation(user.shell, f"the shell of {user.name} is not in the image", "install it, or choose another")
    if user.sudo and not inside(tree, "/usr/bin/sudo").exists():
        yield Violation("/usr/bin/sudo", f"{user.name} has sudo: true", "add sudo to packages.install")


def _add(tree: Path, user: User) -> None:
    home = f"/home/{user.name}"
    record = [user.name, "x", str(user.uid), str(user.uid), "", home, user.shell]
    _write(tree, _PASSWD, [*_read(tree, _PASSWD), record], 0o644)
    _write(tree, _SHADOW, [*_read(tree, _SHADOW), [user.name, "*", "0", "0", "99999", "7", "", "", ""]], 0o640)
    members = [_joined(fields, user) for fields in _read(tree, _GROUP)]
    _write(tree, _GROUP, [*members, [user.name, "x", str(user.uid), ""]], 0o644)
    if inside(tree, _GSHADOW).exists():
        shadows = [_joined(fields, user) for fields in _read(tree, _GSHADOW)]
        _write(tree, _GSHADOW, [*shadows, [user.name, "!", "", ""]], 0o640)
    folder = inside(tree, home)
    keys = write(tree, f"{home}/.ssh/authorized_keys", "".join(f"{key}\n" for key in user.ssh_keys).encode(), 0o600)
    for place in (folder, keys.parent, keys):
        os.chown(place, user.uid, user.uid)
    keys.parent.chmod(0o700)
    folder.chmod(0o700)
    if user.sudo:
        make_folder(inside(tree, "/etc/sudoers.d"))
        write(tree, f"/etc/sudoers.d/{user.name}", f"{user.name} ALL=(ALL:ALL) NOPASSWD: ALL\n".encode(), 0o440)


def _joined(group: list[str], user: User) -> list[str]:
    if group[0] not in user.groups:
        return group
    members = [one for one in group[3].split(",") if one]
    return [*group[:3], ",".join([*members, user.name])]


def _read(tree: Path, path: str) -> list[list[str]]:
    return [line.split(":") for line in inside(tree, path).read_text(encoding="utf-8").splitlines() if line]


def _write(tree: Path, path: str, records: list[list[str]], mode: int) -> None:
    """Write in place: owner and group stay what they are."""
    place = inside(tree, path)
    place.write_text("".join(f"{':'.join(fields)}\n" for fields in records), encoding="utf-8")
    place.chmod(mode)
