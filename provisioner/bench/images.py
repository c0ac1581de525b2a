"""`firstlight bench images`: what a build costs, against the bare tools that it stands on."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from images.building.build import build_debian_image
from images.building.failures import BuildFailedError, ImageRefusedError
from images.building.request import BuildRequest, Built, Stage
from images.building.supplies import SiteSupplies
from profiles.images.debian import DebianImage, ImageFile
from profiles.images.lock import Lock
from provisioner.errors import BadInput

T = TypeVar("T")

_ADDED = ImageFile(path="/etc/firstlight-bench", text="one more file\n")


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """Seconds each. Every package is there already when the builds begin; `cold` asked the mirrors for everything."""

    image: str
    packages: int
    lock_cold: float
    lock_warm: float
    full_build: float
    mmdebstrap_and_mksquashfs: float
    full_build_to_bare_tools: float
    no_change: float
    one_file_changed: float
    stages: dict[str, float]

    def figures(self) -> dict[str, float | str]:
        """Without the stages."""
        return {name: value for name, value in asdict(self).items() if name not in {"image", "stages"}}

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


class _Quiet:
    """A report that tells nobody."""

    def begin(self, stage: Stage) -> None:
        """As the protocol says."""

    def progress(self, done: int, total: int) -> None:
        """As the protocol says."""

    def say(self, text: str) -> None:
        """As the protocol says."""


def measure(image: DebianImage, supplies_in: Callable[[Path], SiteSupplies], site_files: Path | None) -> BuildFigures:
    """Build in a folder that is removed afterwards. Needs root. Raises `BadInput` with what fails."""
    if os.geteuid() != 0:
        raise BadInput("the bench of images needs root, as the bare mmdebstrap that it compares with does: use sudo")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        try:
            return _measured(image, Path(folder), supplies_in, site_files)
        except ImageRefusedError as error:
            raise BadInput(f"{image.name}: {'; '.join(one.text for one in error.reasons)}") from error
        except BuildFailedError as error:
            raise BadInput(f"{image.name}: {error}") from error


def _measured(
    image: DebianImage, folder: Path, supplies_in: Callable[[Path], SiteSupplies], site_files: Path | None
) -> BuildFigures:
    lock, lock_cold = _timed(lambda: supplies_in(folder).resolve(_Quiet()))
    _, lock_warm = _timed(lambda: supplies_in(folder).resolve(_Quiet()))
    repository = supplies_in(folder).fetch(lock, _Quiet())
    supplies = supplies_in(folder)
    request = BuildRequest(image, folder, supplies, site_files, certificates=supplies.certificates)
    built, full = _timed(lambda: _build(request))
    _, bare = _timed(lambda: _bare_tools(lock, repository, folder / "bare"))
    _, unchanged = _timed(lambda: _build(request))
    changed = replace(request, image=image.model_copy(update={"files": (*image.files, _ADDED)}))
    other, one_file = _timed(lambda: _build(changed))
    if other.manifest.digest == built.manifest.digest:
        raise BadInput(f"{image.name}: a file was added, and the image is still the same")
    return BuildFigures(
        image=image.name,
        packages=len(lock.packages),
        lock_cold=round(lock_cold, 2),
        lock_warm=round(lock_warm, 2),
        full_build=round(full, 1),
        mmdebstrap_and_mksquashfs=round(bare, 1),
        full_build_to_bare_tools=round(full / bare, 2),
        no_change=round(unchanged, 2),
        one_file_changed=round(one_file, 1),
        stages={stage.value: round(seconds, 1) for stage, seconds in built.seconds.items()},
    )


def _build(request: BuildRequest) -> Built:
    return build_debian_image(request, _Quiet())


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.monotonic()
    return work(), time.monotonic() - started


def _bare_tools(lock: Lock, repository: Path, folder: Path) -> None:
    """The same packages from the same folder, packed as hard: no more than the two commands."""
    folder.mkdir()
    included = ",".join(f"{one.name}={one.version}" for one in lock.packages)
    suite = lock.profile["base"]["suite"]
    source = f"deb [trusted=yes] copy://{repository} ./"
    _run("mmdebstrap", "--mode=root", "--variant=essential", f"--include={included}", suite, folder / "tree", source)
    _run("mksquashfs", folder / "tree", folder / "root.squashfs", "-comp", "zstd", "-Xcompression-level", "3")


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise BadInput(f"{command[0]} alone fails: {(done.stderr or done.stdout).strip()[-500:]}")
