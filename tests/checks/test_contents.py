"""What must not be in a checked-in file: places that a package comes from, and secrets."""

import re

from tests.checks.tree import ROOT, checked_in_files

# In two halves each, so that this file does not hold what it looks for.
REGISTRIES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "npmjs" + ".org",
    "npmjs" + ".com",
    "deb.debian" + ".org",
    "security.debian" + ".org",
    "snapshot.debian" + ".org",
    "ftp.debian" + ".org",
]
SECRETS = [
    r"-----BEGIN [A-Z ]*PRIVATE" + r" KEY-----",
    r"\bAKIA" + r"[0-9A-Z]{16}\b",
    r"\bgh[pousr]_" + r"[A-Za-z0-9]{36}",
    r"\bxox[abprs]-" + r"[A-Za-z0-9-]{10}",
    r"\beyJ[A-Za-z0-9_-]{10,}" + r"\.eyJ[A-Za-z0-9_-]{10,}",
]


def lines_matching(patterns: list[str]) -> list[str]:
    """Return `path:line: text` for every line of a checked-in text file that one of the patterns matches."""
    wanted = re.compile("|".join(patterns))
    found = []
    for name in checked_in_files():
        lines = (ROOT / name).read_bytes().decode(errors="replace").splitlines()
        found += [f"{name}:{number}: {line[:120]}" for number, line in enumerate(lines, start=1) if wanted.search(line)]
    return found


def test_no_file_names_a_package_registry() -> None:
    """Which mirror is used is the machine's business; a checkout works with any."""
    assert not lines_matching([re.escape(host) for host in REGISTRIES])


def test_no_file_holds_a_secret() -> None:
    assert not lines_matching(SECRETS)


def test_the_resolvers_lock_is_not_checked_in() -> None:
    """uv.lock holds download addresses; the pins are in pyproject.toml."""
    assert not checked_in_files("*uv.lock")
