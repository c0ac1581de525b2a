"""A bare Debian 12 in a folder, made from the same mirror that this machine's apt uses."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

SUITE = "bookworm"
ONE_LINE = re.compile(r"^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s")

# What a machine may need in order to reach its package index. A value that is a file is copied.
NETWORK_VARIABLES = re.compile(
    r"(?i)(https?|no|all)_proxy|(PIP|UV)_\w*INDEX\w*|(PIP|UV)_\w*TIMEOUT|SSL_CERT_FILE|PIP_CERT"
)
NETWORK_FILES = ("/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt")

# Everything that a command starts ends with its namespaces, and so do the mounts.
NAMESPACES = ("unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child")
ENTER = """
set -e
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
mount -t proc proc "$0/proc"
exec chroot "$0" /bin/sh -c 'cd "$0" && exec "$@"' "$@"
"""


def apt_sources(etc_apt: Path = Path("/etc/apt")) -> list[str]:
    """Return this machine's package sources of the suite and its updates, as lines of sources.list; may be empty."""
    found = [*one_line_sources(etc_apt), *deb822_sources(etc_apt)]
    return [f"deb {uri} {suite} main" for uri, suite in found if suite.split("-")[0] == SUITE]


def one_line_sources(etc_apt: Path) -> Iterator[tuple[str, str]]:
    """Yield (URI, suite) from sources.list and sources.list.d/*.list."""
    for path in [etc_apt / "sources.list", *sorted(etc_apt.glob("sources.list.d/*.list"))]:
        lines = path.read_text().splitlines() if path.exists() else []
        yield from ((match[1], match[2]) for match in map(ONE_LINE.match, lines) if match)


def deb822_sources(etc_apt: Path) -> Iterator[tuple[str, str]]:
    """Yield (URI, suite) from sources.list.d/*.sources; continuation lines are not followed."""
    for path in sorted(etc_apt.glob("sources.list.d/*.sources")):
        for paragraph in path.read_text().split("\n\n"):
            entry = {
                key.lower(): words.split() for key, _, words in (line.partition(":") for line in paragraph.splitlines())
            }
            if "deb" in entry.get("types", []) and entry.get("enabled") != ["no"]:
                yield from ((uri, suite) for uri in entry.get("uris", []) for suite in entry.get("suites", []))


def make_tarball(packages: Sequence[str]) -> Path:
    """Return a tarball of the suite with `packages`, made at most once a month; raises CalledProcessError."""
    month = f"{datetime.now(UTC):%Y-%m}"
    key = hashlib.sha256(" ".join([SUITE, *packages]).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstlight" / "bare-debian"
    tarball = cache / f"{month}-{key}.tar"
    if not tarball.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = cache / f"{os.getpid()}.tar"
        include = f"--include={','.join(packages)}"
        command = ["mmdebstrap", "--quiet", "--variant=apt", include, SUITE, str(fresh), "-"]
        subprocess.run(command, input="\n".join(apt_sources()), text=True, check=True)
        fresh.rename(tarball)
        for old in set(cache.glob("????-??-*.tar")) - set(cache.glob(f"{month}-*.tar")):
            old.unlink(missing_ok=True)
    return tarball


def unpack(tarball: Path, root: Path) -> dict[str, str]:
    """Unpack to `root`, give it this machine's way to the network, and return the variables that belong to it."""
    subprocess.run(["tar", "--extract", "--numeric-owner", "--file", tarball, "--directory", root], check=True)
    variables = {name: value for name, value in os.environ.items() if NETWORK_VARIABLES.fullmatch(name)}
    for name in {*NETWORK_FILES, *variables.values()}:
        if name.startswith("/") and Path(name).is_file():
            copy = root / name.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, copy)
    return variables


def run_inside(
    root: Path, folder: str, command: Sequence[str], variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command as root in `folder` of the unpacked root; stdout and stderr come together in `stdout`."""
    system = {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    }
    whole = [*NAMESPACES, "sh", "-c", ENTER, str(root), folder, *command]
    return subprocess.run(
        whole,
        env=system | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
