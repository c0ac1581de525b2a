"""From a profile to a published image: the stages of a build in their order."""

import errno
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from images.building.bootstrap import bootstrap, packages_not_as_locked, unpack
from images.building.clean import clean
from images.building.command_line import command_line
from images.building.compare import verify_packed
from images.building.customise import customise
from images.building.failures import BuildFailedError, TreeRefusedError, Violation
from images.building.image_tests import Subject, results_json, run_image_tests
from images.building.initrd import initrd_key, make_initrd, prepare
from images.building.kept import Kept
from images.building.keys import bootstrap_key, build_key, builder_digest
from images.building.locking import kept_lock, parse_lock
from images.building.pack import PackedRoot, pack
from images.building.publish import Shelf
from images.building.request import BuildRequest, Built, Report, Stage
from images.building.sbom import sbom_json
from images.building.site_files import find_site_files
from images.building.tools import Tools, tool_versions
from images.building.tree_checks import check_tree
from images.building.tree_path import inside
from images.building.workplace import waited_lock, workplace
from images.manifest import Bootable, ImageManifest
from profiles.images.lock import Lock

_MIB = 2**20
_STUB_BYTES = 2**17  # what a boot program has beside kernel and initrd


def build_debian_image(request: BuildRequest, report: Report) -> Built:
    """Build and publish the image, or find that it is there already.

    Raises BuildFailedError with what to do about it; nothing is published then and no tree is left behind.
    """
    versions = tool_versions()
    clock = _Clock(report)
    shelf = Shelf(request.data_dir)
    lock = _lock(request, shelf, clock)
    builder = builder_digest(versions)
    key = build_key(lock, builder, request.level)
    waits = partial(report.say, f"{request.image.name}: another build of the same image runs; waiting for it")
    with waited_lock(request.data_dir / "builds" / "locks" / key.removeprefix("sha256:"), waits):
        manifest = shelf.built(key)
        if manifest:
            shelf.point(manifest, key)
            return Built(manifest, key, lock.digest)
        build = _Build(request, shelf, lock, key, builder, versions, clock)
        try:
            manifest = build.run()
        except OSError as error:
            raise BuildFailedError(_of_system(error, request.data_dir), build.log) from error
        return Built(manifest, key, lock.digest, clock.stop(), build.log)


def _lock(request: BuildRequest, shelf: Shelf, clock: "_Clock") -> Lock:
    reference = shelf.reference(request.image.name)
    content = shelf.text(reference.lock_digest) if reference and not request.update else None
    before = parse_lock(content) if content else None
    kept = kept_lock(before, request.image, request.certificates) if before else None
    if kept:
        clock.report.say("packages are those of the image before; --update asks the mirror for newer ones")
        return kept
    clock.begin(Stage.RESOLVE)
    return request.supplies.resolve(clock.report)


def _of_system(error: OSError, data_dir: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {data_dir} is full; make room, or choose another data directory ({error})"
    return str(error)


@dataclass(slots=True)
class _Clock:
    """Tells which stage runs, and keeps how long each took."""

    report: Report
    seconds: dict[Stage, float] = field(default_factory=dict)
    _running: Stage | None = None
    _since: float = 0.0

    def begin(self, stage: Stage) -> None:
        self.stop()
        self._running, self._since = stage, time.monotonic()
        self.report.begin(stage)

    def stop(self) -> Mapping[Stage, float]:
        if self._running:
            self.seconds[self._running] = time.monotonic() - self._since
        self._running = None
        return self.seconds


@dataclass(frozen=True, slots=True)
class _Build:
    """One build of one key; nobody else works at it."""

    request: BuildRequest
    shelf: Shelf
    lock: Lock
    key: str
    builder: str
    versions: Mapping[str, str]
    clock: _Clock

    @property
    def log(self) -> Path:
        return self._folder / f"{self.key.removeprefix('sha256:')}.log"

    @property
    def _folder(self) -> Path:
        return self.request.data_dir.resolve() / "builds"

    def run(self) -> ImageManifest:
        request = self.request
        wanted = (file.sha256 for file in request.image.files if file.sha256)
        site_files = find_site_files(request.site_files, wanted)
        with workplace(self._folder / "work") as work:
            (work / "tmp").mkdir()
            self.log.write_text("", encoding="utf-8")
            tools = Tools(self.log, work / "tmp", self.lock.epoch)
            tree, kernel = work / "tree", work / "kernel"
            initrd = self._tree_and_initrd(tree, site_files, tools)
            self.clock.begin(Stage.CUSTOMISE)
            kernel.write_bytes(inside(tree, f"/boot/vmlinuz-{self.lock.kernel.abi}").read_bytes())
            results = self._finish(tree, site_files, tools)
            self.clock.begin(Stage.PACK)
            packed = pack(tree, work / "root", self.key, request.level, tools)
            self._refuse(self._over_budget(packed.path, kernel, initrd))
            self.clock.begin(Stage.VERIFY)
            verify_packed(tree, packed, work / "unpacked", tools)
            if builder_digest(self.versions) != self.builder:
                raise BuildFailedError("Firstlight itself was changed during the build; build again", self.log)
            self.clock.begin(Stage.PUBLISH)
            files = {"root": packed.path, "kernel": kernel, "initrd": initrd}
            texts = {"lock": self.lock.canonical_json(), "sbom": sbom_json(self.lock), "tests": results}
            texts["cmdline"] = " ".join(command_line(request.image)).encode()
            manifest = self._manifest(packed, files, texts)
            self.shelf.publish(manifest, self.key)
            return manifest

    def _tree_and_initrd(self, tree: Path, site_files: Mapping[str, Path], tools: Tools) -> Path:
        """Unpack what packages make; return where the initrd is kept."""
        kept = Kept(self._folder / "kept")
        of_packages = bootstrap_key(self.lock, self.versions)
        tar = kept.file("bootstrap", of_packages, partial(self._bootstrap, tools=tools), self._waiting("packages"))
        self.clock.begin(Stage.UNPACK)
        unpack(tar, tree, tools)
        self._refuse(packages_not_as_locked(tree, self.lock))
        prepare(tree, self.request.image, site_files)
        key = initrd_key(self.request.image, of_packages)

        def make(target: Path) -> None:
            self.clock.begin(Stage.INITRD)
            make_initrd(tree, self.request.image, self.lock, target, tools)
            if initrd_key(self.request.image, of_packages) != key:
                raise BuildFailedError("Firstlight itself was changed while the initrd was made; build again", self.log)

        return kept.file("initrd", key, make, self._waiting("initrd"))

    def _bootstrap(self, target: Path, tools: Tools) -> None:
        self.clock.begin(Stage.FETCH)
        repository = self.request.supplies.fetch(self.lock, self.clock.report)
        self.clock.begin(Stage.BOOTSTRAP)
        bootstrap(self.lock, repository, target, tools, self.clock.report.progress)

    def _waiting(self, what: str) -> Callable[[], None]:
        return partial(self.clock.report.say, f"another build makes the same {what}; waiting for it")

    def _finish(self, tree: Path, site_files: Mapping[str, Path], tools: Tools) -> bytes:
        """Make the tree what the profile says, and judge it; return the results of the image's tests."""
        image = self.request.image
        wrong = customise(tree, image, site_files=site_files, tools=tools)
        clean(tree)
        results, failed = run_image_tests(Subject(tree, image, self.lock))
        self._refuse([*wrong, *check_tree(tree), *failed])
        return results_json(results)

    def _over_budget(self, root: Path, kernel: Path, initrd: Path) -> list[Violation]:
        budgets = self.request.image.budgets
        program = kernel.stat().st_size + initrd.stat().st_size + _STUB_BYTES
        found = []
        for name, size, most in (
            ("max_root_mib", root.stat().st_size, budgets.max_root_mib),
            ("max_uki_mib", program, budgets.max_uki_mib),
        ):
            if size > most * _MIB:
                what = f"is {-(-size // _MIB)} MiB, more than {most}"
                found.append(Violation(f"budgets.{name}", what, "install less, or raise the budget"))
        return found

    def _manifest(self, packed: PackedRoot, files: Mapping[str, Path], texts: Mapping[str, bytes]) -> ImageManifest:
        image = self.request.image
        return ImageManifest(
            name=image.name,
            arch=image.arch.value,
            artefacts=self.shelf.take(files, texts),
            bootable=Bootable(
                kernel_abi=self.lock.kernel.abi,
                command_line=command_line(image),
                verity_root_hash=packed.verity_root_hash,
                verity_offset_bytes=packed.verity_offset_bytes,
                overlay_mib=image.boot.root.overlay_mib,
                method=image.boot.method.value,
                secure_boot=image.target.secure_boot,
            ),
            made_from={"profile": self.lock.profile_digest, "lock": self.lock.digest, "builder": self.builder},
        )

    def _refuse(self, violations: list[Violation]) -> None:
        if violations:
            unique = tuple(dict.fromkeys(violations))
            raise TreeRefusedError(unique, self.log)
