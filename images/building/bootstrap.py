"""The root file system as its packages make it: mmdebstrap, offline, from exactly the packages of the lock."""

from collections.abc import Callable
from pathlib import Path

from images.building.failures import BuildFailedError, Violation
from images.building.tools import Tools
from profiles.images.lock import Lock, LockedPackage
from profiles.images.resolve import DEBIAN_ARCH
from profiles.models import Arch

_NOT_INSTALLED = ("/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/doc/*")
_INSTALLED_ALL_THE_SAME = ("/usr/share/doc/*/copyright",)


def bootstrap(lock: Lock, repository: Path, target: Path, tools: Tools, progress: Callable[[int, int], None]) -> None:
    """Write the tree as a tar file. No initrd is made: that is a stage of its own."""
    done = 0

    def line_seen(line: str) -> None:
        nonlocal done
        if line.startswith(("Unpacking ", "Setting up ")):
            done += 1
            progress(min(done, 2 * len(lock.packages)), 2 * len(lock.packages))

    tools.run(_command(lock, repository, target), alone=True, line_seen=line_seen)


def unpack(tar: Path, tree: Path, tools: Tools) -> None:
    """Unpack the tar file; /dev is the kernel's own at run time."""
    tree.mkdir()
    options = ("--numeric-owner", "--same-permissions", "--same-owner", "--xattrs", "--xattrs-include=*")
    tools.run(("tar", "--extract", *options, "--exclude=./dev/*", f"--directory={tree}", f"--file={tar}"))


def packages_not_as_locked(tree: Path, lock: Lock) -> list[Violation]:
    """Compare what dpkg says with the lock: every package, its version and state, and no other."""
    status = (tree / "var/lib/dpkg/status").read_text(encoding="utf-8")
    installed = dict(_installed(paragraph) for paragraph in status.split("\n\n") if paragraph.strip())
    locked = {one.name: _as_installed(one) for one in lock.packages}
    if lock.modules:
        locked[lock.modules.package] = f"{lock.modules.version} {lock.modules.source.arch}"
    found = []
    for name in sorted(installed.keys() | locked.keys()):
        if installed.get(name) != locked.get(name):
            what = f"{name} is {installed.get(name, 'not installed')}, the lock has {locked.get(name, 'none')}"
            found.append(Violation("/var/lib/dpkg/status", what, "build with --update"))
    return found


def _command(lock: Lock, repository: Path, target: Path) -> list[str]:
    excluded = [f"--dpkgopt=path-exclude={path}" for path in _NOT_INSTALLED]
    included = [f"--dpkgopt=path-include={path}" for path in _INSTALLED_ALL_THE_SAME]
    wanted = [f"{one.name}={one.version}" for one in lock.packages]
    wanted += [f"{lock.modules.package}={lock.modules.version}"] if lock.modules else []
    if any(character in str(repository) for character in " \t["):
        raise BuildFailedError(f"{repository}: apt cannot read from a path with spaces; choose another data directory")
    return [
        *("env", "INITRD=No"),  # asked by the kernel package's hook
        *("mmdebstrap", "--verbose", "--mode=root", "--format=tar", "--variant=essential"),
        *(f"--architectures={DEBIAN_ARCH[Arch(lock.arch)]}", "--dpkgopt=force-unsafe-io", *excluded, *included),
        *(f"--include={','.join(wanted)}", lock.profile["base"]["suite"], str(target)),
        f"deb [trusted=yes] copy://{repository} ./",
    ]


def _installed(paragraph: str) -> tuple[str, str]:
    fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if not line.startswith(" ") and ": " in line)
    state = fields.get("Status", "")
    shown = f"{fields.get('Version')} {fields.get('Architecture')}"
    return fields["Package"], shown if state == "install ok installed" else f"{shown} ({state})"


def _as_installed(package: LockedPackage) -> str:
    return f"{package.version} {package.arch}"
