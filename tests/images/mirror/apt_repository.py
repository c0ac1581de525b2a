"""A small apt repository made with Debian's own tools, signed with a key of its own, and ways to make it wrong."""

import gzip
import hashlib
import lzma
import random
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

from tests.profiles.package_files import PACKAGES

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAYLOAD_BYTES = 60_000


def build_deb(folder: Path, line: str, *, arch: str = "amd64") -> Path:
    """Build a package from `name version` and fields; its content cannot be compressed."""
    name, version, *more = line.split(" ", 2)
    tree = folder / f".tree-{name}"
    (tree / "DEBIAN").mkdir(parents=True)
    essential = "Essential: yes\n" if name == "dpkg" else ""
    control = f"Package: {name}\nVersion: {version}\nArchitecture: {arch}\nMaintainer: nobody <nobody@example.test>\n"
    fields = "".join(f"{one}\n" for one in more)
    (tree / "DEBIAN" / "control").write_text(f"{control}{essential}{fields}Description: a package\n with two lines\n")
    (tree / "usr").mkdir()
    (tree / "usr" / name).write_bytes(random.Random(line).randbytes(PAYLOAD_BYTES))
    path = folder / f"{name}_{version.rpartition(':')[2]}_{arch}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["rm", "-r", str(tree)], check=True)
    return path


def build_debs(folder: Path, lines: Iterable[str] = PACKAGES) -> Path:
    """Build the packages of the small mirror, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in lines:
        build_deb(folder, line)
    return folder


class Signer:
    """A publisher with one key that is known, and the keys after it, which sign as well.

    `at`: the day on which it lives; a key from then on is good for a year.
    """

    def __init__(self, home: Path, next_keys: int = 0, at: str | None = None) -> None:
        home.mkdir(mode=0o700, parents=True)
        self._gpg = ["gpg", "--homedir", str(home), "--batch", "--passphrase", "", "--pinentry-mode", "loopback"]
        self._gpg += ["--faked-system-time", at] if at else []
        self._home = home
        for number in range(next_keys + 1):
            self._run("--quick-gen-key", f"publisher {number}", "ed25519", "sign", "1y" if at else "never")
        listed = self._run("--with-colons", "--list-keys").decode().splitlines()
        keys = [line.split(":")[9] for line in listed if line.startswith("fpr:")]
        self._signing = [word for key in keys for word in ("--local-user", key)]
        self.fingerprint = keys[0]
        self.keyring = home / "keys.gpg"
        self.keyring.write_bytes(self._run("--export", self.fingerprint))
        self.armoured = home / "keys.asc"
        self.armoured.write_bytes(self._run("--armor", "--export", self.fingerprint))

    def clear_sign(self, text: bytes) -> bytes:
        return self._run(*self._signing, "--clear-sign", stdin=text)

    def close(self) -> None:
        subprocess.run(["gpgconf", "--homedir", str(self._home), "--kill", "all"], check=True, timeout=30)

    def _run(self, *words: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run([*self._gpg, *words], input=stdin, capture_output=True, check=True, timeout=60)
        return done.stdout


@dataclass
class Suite:
    """One suite, before it is written; each field is a way to have it otherwise."""

    name: str = "bookworm"
    component: str = "main"
    arch: str = "amd64"
    date: datetime = NOW - timedelta(days=1)
    valid_until: datetime | None = None
    fields: dict[str, str] = field(default_factory=dict)
    flat: bool = False
    kinds: tuple[str, ...] = ("", ".gz", ".xz")
    index: bytes | None = None

    def write(self, root: Path, debs: Iterable[Path], signer: Signer) -> Path:
        """Write pool, indices and InRelease below `root`, instead of what was there; return the InRelease's folder."""
        pool = root if self.flat else root / "pool"
        pool.mkdir(parents=True, exist_ok=True)
        paragraphs = []
        for deb in debs:
            if not (pool / deb.name).exists():
                (pool / deb.name).hardlink_to(deb)
            paragraphs.append(_paragraph(deb, (pool / deb.name).relative_to(root)))
        content = "\n".join(paragraphs).encode() if self.index is None else self.index
        folder = root if self.flat else root / "dists" / self.name
        below = folder if self.flat else folder / self.component / f"binary-{self.arch}"
        for old in folder.rglob("Packages*"):
            old.unlink()
        below.mkdir(parents=True, exist_ok=True)
        packed = {"": content, ".gz": gzip.compress(content, mtime=0), ".xz": lzma.compress(content)}
        for kind in self.kinds:
            (below / f"Packages{kind}").write_bytes(packed[kind])
        (folder / "InRelease").write_bytes(signer.clear_sign(self._release(folder)))
        return folder

    def _release(self, folder: Path) -> bytes:
        lines = [f"Codename: {self.name}", f"Date: {format_datetime(self.date, usegmt=True)}"]
        if self.valid_until:
            lines.append(f"Valid-Until: {format_datetime(self.valid_until, usegmt=True)}")
        lines += [f"{name}: {value}" for name, value in self.fields.items()]
        lines.append("SHA256:")
        for path in sorted(folder.rglob("Packages*")):
            content = path.read_bytes()
            lines.append(f" {hashlib.sha256(content).hexdigest()} {len(content)} {path.relative_to(folder)}")
        return "\n".join([*lines, ""]).encode()


def _paragraph(deb: Path, place: Path) -> str:
    said = subprocess.run(["dpkg-deb", "--field", str(deb)], check=True, capture_output=True, timeout=60).stdout
    content = deb.read_bytes()
    where = f"Filename: {place}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n"
    return said.decode() + where
