"""A local repository of an image with the package of its built modules beside those of the mirror."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from images.boot_program.signing import SigningPair
from images.modules.errors import ModuleError
from images.modules.request import ModuleStage
from images.modules.stage import build_module_package
from profiles.images.lock import Lock


@dataclass(frozen=True, slots=True)
class ModuleSupply:
    """`fetch`: a repository of exactly the packages of a lock. `keys`: the site's, by name. `cache`: for the stage."""

    fetch: Callable[[Lock], Path]
    keys: Mapping[str, SigningPair]
    cache: Path
    say: Callable[[str], None]


def repository_with_modules(lock: Lock, supply: ModuleSupply) -> Path:
    """Return a repository of everything that the image installs; raises ModuleError, and what `fetch` raises.

    For a lock without a stage it is the mirror's. Otherwise modules are built, unless they were before.
    """
    repository = supply.fetch(lock)
    if lock.modules is None:
        return repository
    tree = replace(lock, packages=(*lock.modules.tree, lock.modules.source), modules=None)
    stage = ModuleStage(lock, supply.fetch(tree), supply.cache / "compiled", _key(lock, supply), supply.say)
    place = supply.cache / "repositories" / lock.digest.removeprefix("sha256:")
    place.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=place.parent, prefix=".new-"))
    try:
        new.chmod(0o755)
        package = build_module_package(stage, new)
        _fill(new, repository, package)
        shutil.rmtree(place, ignore_errors=True)
        new.replace(place)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return place


def _key(lock: Lock, supply: ModuleSupply) -> SigningPair:
    name = lock.profile["gpu"]["driver"]["sign_key"]
    if name not in supply.keys:
        raise ModuleError(f"{lock.image}: the site has no signing key {name}; name it under signing_keys of site.yaml")
    return supply.keys[name]


def _fill(new: Path, repository: Path, package: Path) -> None:
    """The packages of both, and the indices over them; mmdebstrap finds the essential ones by the suite of Release."""
    for path in repository.glob("*.deb"):
        (new / path.name).hardlink_to(path)
    said = subprocess.run(["dpkg-deb", "--field", str(package)], capture_output=True, text=True, check=True, timeout=60)
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    where = f"Filename: ./{package.name}\nSize: {package.stat().st_size}\nSHA256: {digest}\n"
    packages = (repository / "Packages").read_text(encoding="utf-8").rstrip("\n")
    content = f"{packages}\n\n{said.stdout.rstrip()}\n{where}".encode()
    (new / "Packages").write_bytes(content)
    release = (repository / "Release").read_text(encoding="utf-8").partition("SHA256:")[0]
    listed = f" {hashlib.sha256(content).hexdigest()} {len(content)} Packages"
    (new / "Release").write_text(f"{release}SHA256:\n{listed}\n", encoding="utf-8")
