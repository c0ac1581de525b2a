"""A small mirror, as the text of its Packages files."""

import hashlib
from collections.abc import Iterable

from profiles.images.package_index import PackageIndex, package_index, read_packages

KERNEL = "linux-image-6.1.0-57-amd64"
DRIVER = "580.126.20"

PACKAGES = (
    "libc6 2.36-9",
    "dpkg 1.21 Depends: libc6 (>= 2.15)",
    "udev 252.39-1 Depends: libc6, default-log | log",
    "kmod 30-1 Depends: libc6",
    "rsyslog 8.2-1 Provides: log",
    f"{KERNEL} 6.1.192-3 Depends: kmod",
    f"linux-image-amd64 6.1.192-3 Depends: {KERNEL} (= 6.1.192-3)",
    f"nvidia-driver-cuda {DRIVER}-1 Depends: libc6 (>= 2.15)",
    f"nvidia-modules {DRIVER}-1 Depends: {KERNEL}",
    f"nvidia-fabricmanager {DRIVER}-1",
    "nvidia-fabricmanager 580.95.05-1",
    f"nvidia-imex {DRIVER}-1",
    "nvlsm 2025.10.1-1",
)
"""`name version`, and then one field."""


def packages_text(lines: Iterable[str]) -> str:
    """Return a Packages file; dpkg is essential, and every digest is that of its line."""
    paragraphs = []
    for line in lines:
        name, version, *more = line.split(" ", 2)
        digest = hashlib.sha256(line.encode()).hexdigest()
        paragraph = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nSHA256: {digest}\nSize: 1000\n"
        paragraph += f"Filename: pool/{name}_{version}.deb\nDescription: a package\n with two lines\n"
        paragraph += "Essential: yes\n" if name == "dpkg" else ""
        paragraphs.append(paragraph + "".join(f"{field}\n" for field in more))
    return "\n".join(paragraphs)


def index_of(*added: str, without: str = "") -> PackageIndex:
    """Return the index of the mirror with more lines, and without those that begin with a word."""
    lines = [line for line in PACKAGES if not without or line.split()[0] != without]
    return package_index(read_packages(packages_text([*lines, *added])))
