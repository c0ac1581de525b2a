"""Compile modules in a tree of their own, by dkms, for the one kernel of the lock; what was compiled is kept."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from images.modules.compiler_line import compiler_line
from images.modules.errors import ModuleError, StageFailedError
from images.modules.request import ModuleStage
from profiles.images.lock import LockedPackage
from profiles.images.resolve import DEBIAN_ARCH
from profiles.models import Arch

_HOOK = Path(__file__).with_name("compile.sh")
_ALONE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
_NAMED = ("sh", "-c", 'hostname firstlight; exec "$@"', "sh")
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
_NOT_INSTALLED = ("/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/doc/*")
_MACHINE = {Arch.X86_64: "x86_64", Arch.ARM64: "aarch64"}


def compiled_modules(stage: ModuleStage) -> Path:
    """Return the folder with the modules (`*.ko`, not signed), the kernel's `config` and `make.log`.

    Two builds of the same never run at once. Raises StageFailedError with the compiler's line and the log.
    """
    key = compile_key(stage)
    place = stage.cache / key
    with _lock(stage, key):
        if not place.is_dir():
            stage.cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=stage.cache, prefix=".work-") as work:
                result = Path(work, "result")
                result.mkdir()
                _compile(stage, Path(work), result, stage.cache / f"{key}.log")
                result.replace(place)
    return place


def compile_key(stage: ModuleStage) -> str:
    """Return 64 hex digits: everything that compiled modules follow from. The key that signs them is not among it."""
    lock = stage.lock
    parts = [asdict(stage.modules), asdict(lock.kernel), lock.arch, lock.epoch, lock.profile["base"]["suite"]]
    parts += [_HOOK.read_text(encoding="utf-8"), Path(__file__).read_text(encoding="utf-8")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@contextmanager
def _lock(stage: ModuleStage, key: str) -> Iterator[None]:
    stage.cache.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(stage.cache / f"{key}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stage.say("another build compiles the same kernel modules; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _compile(stage: ModuleStage, work: Path, result: Path, log: Path) -> None:
    modules, abi = stage.modules, stage.lock.kernel.abi
    stage.say(f"compiling {modules.source.name} {modules.source.version} for {abi}; this takes minutes")
    scratch = work / "tmp"
    scratch.mkdir()
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "DEBIAN_FRONTEND": "noninteractive",
        "TMPDIR": str(scratch),
        "SOURCE_DATE_EPOCH": str(stage.lock.epoch),
        "MODULE_ABI": abi,
        "MODULE_ARCH": _MACHINE[Arch(stage.lock.arch)],
        "MODULE_SOURCE": str(_deb(stage, modules.source)),
        "MODULE_RESULT": str(result),
    }
    command = [*_DIES_WITH_US, *_ALONE, *_NAMED, *_mmdebstrap(stage)]
    with log.open("wb") as output:
        try:
            ran = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
            )
        except FileNotFoundError as error:
            raise ModuleError(f"{error.filename} is not on this machine; install util-linux") from error
    said = result / "make.log"
    if ran.returncode != 0:
        if said.is_file():
            _append(log, said)
        raise StageFailedError(_why(stage, log), log)
    if not any(result.glob("*.ko")):
        raise StageFailedError(f"{modules.source.name} {modules.source.version} made no kernel module", log)


def _mmdebstrap(stage: ModuleStage) -> list[str]:
    packages = ",".join(f"{one.name}={one.version}" for one in stage.modules.tree)
    return [
        *("mmdebstrap", "--verbose", "--mode=root", "--format=null", "--variant=essential"),
        *(f"--architectures={DEBIAN_ARCH[Arch(stage.lock.arch)]}", "--dpkgopt=force-unsafe-io"),
        *(f"--dpkgopt=path-exclude={path}" for path in _NOT_INSTALLED),
        *(f"--include={packages}", f"--customize-hook={_HOOK}"),
        *(stage.lock.profile["base"]["suite"], "-", f"deb [trusted=yes] copy://{stage.repository} ./"),
    ]


def _deb(stage: ModuleStage, package: LockedPackage) -> Path:
    """Found by its digest, whatever its file is called."""
    for path in sorted(stage.repository.glob("*.deb")):
        if path.stat().st_size == package.size_bytes:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == package.sha256:
                    return path.resolve()
    raise ModuleError(f"{stage.repository}: lacks {package.name} {package.version}; fetch the lock's packages again")


def _append(log: Path, more: Path) -> None:
    with log.open("ab") as target, more.open("rb") as source:
        shutil.copyfileobj(source, target)


def _why(stage: ModuleStage, log: Path) -> str:
    source = stage.modules.source
    what = f"{source.name} {source.version} does not compile for {stage.lock.kernel.abi}"
    with log.open(encoding="utf-8", errors="replace") as lines:
        line = compiler_line(lines)
    return f"{what}: {line or 'the log says no reason'}; name a driver and a kernel that were tested together"
