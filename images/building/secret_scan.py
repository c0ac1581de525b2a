"""Looking for secrets in a tree: private keys, hashes of passwords, tokens. What is found is never printed."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from images.building.failures import Violation
from images.building.tree_path import shown

_BLOCK_BYTES = 2**22
_OVERLAP_BYTES = 512
_KINDS: tuple[tuple[str, bytes, bytes], ...] = (
    # what it is, a part that is quickly found, and the whole
    ("a private key", b"PRIVATE KEY", rb"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----[ \t]*\r?\n[^-]{32}"),
    ("a key for age", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("a key of PuTTY", b"PuTTY-User-Key-File", rb"PuTTY-User-Key-File-[23]: [a-z0-9-]+\r?\n"),
    ("an AWS key", b"AKIA", rb"(?<![A-Z0-9])AKIA[0-9A-Z]{16}(?![A-Z0-9])"),
    *(("a GitHub token", b"gh%c_" % one, rb"(?<![A-Za-z0-9])gh%c_[A-Za-z0-9]{36}" % one) for one in b"pousr"),
    ("a GitHub token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{60}"),
    ("a GitLab token", b"glpat-", rb"glpat-[A-Za-z0-9_-]{20}"),
    ("a Slack token", b"xox", rb"xox[abprs]-[A-Za-z0-9]{8,}-[A-Za-z0-9-]{10,}"),
    ("a Google API key", b"AIza", rb"(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    ("an NGC key", b"nvapi-", rb"nvapi-[A-Za-z0-9_-]{60}"),
    ("a Hugging Face token", b"hf_", rb"(?<![A-Za-z0-9_])hf_[A-Za-z]{34}(?![A-Za-z0-9])"),
    (
        "a signed token (JWT)",
        b"eyJ",
        rb"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{12,}\.eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{20,}",
    ),
)
_PATTERNS = tuple((kind, part, re.compile(whole)) for kind, part, whole in _KINDS)
_HASH = re.compile(rb"\$(?:1|2[abxy]|5|6|7|y|gy)\$[^:\s$]{1,80}\$[./A-Za-z0-9$]{16,}")
_PUBLIC = ("/usr/lib/*/libgnutls.so.*",)  # the keys of its self-test, in its sources for everybody
_NO_PASSWORD = ("*", "!", "!*", "!!")
_ACCOUNT_FILES = ("etc/shadow", "etc/gshadow")
_REMEDY = "take it out; secrets reach a node after it has proved who it is, never in an image"


def secrets_in_file(tree: Path, place: Path) -> Iterator[Violation]:
    """Yield the kinds of secrets that a file of the tree holds."""
    path = shown(tree, place)
    if any(fnmatch(path, pattern) for pattern in _PUBLIC):
        return
    kinds: set[str] = set()
    with place.open("rb") as file:
        before = b""
        while block := file.read(_BLOCK_BYTES):
            kinds |= secrets_in_bytes(before + block, hashes=path.startswith("/etc/") and path != "/etc/shadow")
            before = block[-_OVERLAP_BYTES:]
    for kind in sorted(kinds):
        yield Violation(path, f"holds {kind}", _REMEDY)


def account_passwords(tree: Path) -> Iterator[Violation]:
    """Yield every account and group with a password, or with none where anything would do."""
    for account_file in _ACCOUNT_FILES:
        place = tree / account_file
        for line in place.read_text(encoding="utf-8").splitlines() if place.is_file() else ():
            name, _, rest = line.partition(":")
            password = rest.partition(":")[0]
            if password not in _NO_PASSWORD:
                what = "has a password" if password else "lets everybody in without a password"
                yield Violation(f"/{account_file}", f"account {name} {what}", "let people in by key, or not at all")


def secrets_in_bytes(content: bytes, *, hashes: bool = False) -> set[str]:
    """Return the kinds of secrets in the content. `hashes`: of passwords as well."""
    found = {kind for kind, part, whole in _PATTERNS if part in content and whole.search(content)}
    return found | ({"the hash of a password"} if hashes and _HASH.search(content) else set())
