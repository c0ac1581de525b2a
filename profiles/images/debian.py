"""A Debian root with a kernel and, if need be, a GPU driver: the profiles of images/ that say `root: debian`."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from profiles.fields import Name, Number, Profile, Sha256, Text, Whole
from profiles.images.gpu import Gpu
from profiles.images.kinds import (
    BootMethod,
    FileMode,
    KernelModule,
    KernelParameter,
    Lockdown,
    MebiBytes,
    OneWord,
    PackageName,
    PackageVersion,
    Snapshot,
    TestStage,
    UnitName,
    UnixPath,
    UserName,
)
from profiles.images.policy import FORBIDDEN_PACKAGES, MUST_BE_MASKED, Policy
from profiles.models import Arch
from profiles.problems import Problem, refuse_if_any

KERNEL_PREFIX = "linux-image-"


class Target(Profile):
    """The nodes that it is for, as far as the driver must know; the release says which hardware class gets it."""

    gpus: tuple[Text, ...] = ()
    platforms: tuple[Text, ...] = ()
    min_memory_gib: Annotated[Whole, Field(ge=1)] | None = None
    secure_boot: bool = False


class Distribution(Profile):
    """Where packages come from. `mirror` is a name that the site's configuration leads to an address."""

    distribution: Literal["debian"]
    suite: Literal["bookworm", "trixie"]
    variant: Literal["minbase", "apt", "important"] = "minbase"
    components: Annotated[tuple[OneWord, ...], Field(min_length=1)]
    snapshot: Annotated[Snapshot, Field(description="the time in UTC that every file of the image bears")]
    mirror: Name
    keyring_sha256: Sha256 | None = None


class KernelArgument(Profile):
    """`key` or `key=value`, a record so that a child can replace one of them."""

    key: KernelParameter
    value: OneWord | None = None


class Initrd(Profile):
    """The first root in memory."""

    modules: tuple[KernelModule, ...] = ()
    compression: Literal["zstd", "lz4", "xz", "none"] = "zstd"


class Kernel(Profile):
    """One kernel. Without a version, the index has to hold exactly one; with a GPU driver, it is pinned."""

    package: PackageName
    version: PackageVersion | None = None
    cmdline: tuple[KernelArgument, ...] = ()
    deny_modules: tuple[KernelModule, ...] = ()
    load_modules: tuple[KernelModule, ...] = ()
    lockdown: Lockdown = Lockdown.NONE
    initrd: Initrd = Initrd()


class InstalledPackage(Profile):
    """A package; its version where the image depends on one."""

    name: PackageName
    version: PackageVersion | None = None


class Packages(Profile):
    """What is installed beside the kernel and the driver; what it depends on comes with it."""

    install: tuple[InstalledPackage, ...] = ()
    remove: tuple[PackageName, ...] = ()
    recommends: bool = False


class ImageFile(Profile):
    """A file of the image: its text here, or a file of the site by digest."""

    path: UnixPath
    text: Annotated[str, Field(max_length=65536)] | None = None
    sha256: Sha256 | None = None
    mode: FileMode = "0644"
    owner: UserName = "root"

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.text is None) == (self.sha256 is None):
            refuse_if_any([Problem((), "needs one of text and sha256", "write the text, or name a file of the site")])
        return self


class Services(Profile):
    """Units by their whole names. A masked one cannot be started by anything."""

    enable: tuple[UnitName, ...] = ()
    disable: tuple[UnitName, ...] = ()
    mask: tuple[UnitName, ...] = ()


class User(Profile):
    """An account that comes in by key. There are no passwords in images."""

    name: UserName
    uid: Annotated[Whole, Field(ge=1, le=59999)]
    groups: tuple[UserName, ...] = ()
    shell: UnixPath = "/bin/bash"
    ssh_keys: tuple[Text, ...] = ()
    sudo: bool = False


class RootFileSystem(Profile):
    """What is mounted as root, with a tmpfs of `overlay_mib` above it."""

    file_system: Literal["squashfs"] = "squashfs"
    verity: Literal[True] = True
    overlay_mib: MebiBytes


class Boot(Profile):
    """How it gets onto a node. `secure_boot_key` names a key of the site."""

    method: BootMethod
    root: RootFileSystem
    consoles: Annotated[tuple[OneWord, ...], Field(min_length=1)]
    secure_boot_key: Name | None = None


class ImageTest(Profile):
    """A test that the image must pass; without all blocking ones it is not promoted."""

    id: Name
    stage: TestStage
    kind: Name
    expect: Text | None = None
    blocking: bool = True


class Budgets(Profile):
    """A build that is over one of them fails."""

    max_root_mib: MebiBytes
    max_uki_mib: MebiBytes
    max_boot_seconds: Annotated[Number, Field(gt=0)]


class Waiver(Profile):
    """A finding or an unknown of the compatibility check that somebody accepted; refusals cannot be waived."""

    name: Name
    why: Text


class DebianImage(Profile):
    """A Debian root from packages: images/*.yaml with `root: debian`. `abstract`: never built, only inherited."""

    name: Name
    description: Text
    owner: Text | None = None
    labels: dict[Name, Text] = Field(default_factory=dict)
    extends: Annotated[tuple[Name, ...], Field(description="parents in order; a later one wins")] = ()
    abstract: bool = False
    arch: Arch
    root: Literal["debian"]
    target: Target = Target()
    base: Distribution
    kernel: Kernel
    gpu: Gpu | None = None
    packages: Packages = Packages()
    files: tuple[ImageFile, ...] = ()
    services: Services = Services()
    users: tuple[User, ...] = ()
    policy: Policy
    boot: Boot
    tests: tuple[ImageTest, ...] = ()
    budgets: Budgets
    waive: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _keeps_its_own_rules(self) -> Self:
        refuse_if_any([*self._packages(), *self._kernel(), *self._masked(), *self._target()])
        return self

    def _packages(self) -> Iterator[Problem]:
        for index, package in enumerate(self.packages.install):
            at = ("packages", "install", index)
            if package.name.startswith(KERNEL_PREFIX):
                message = f"{package.name} is a second kernel beside {self.kernel.package}"
                yield Problem(at, message, "an image has one kernel: kernel.package")
            if package.name in FORBIDDEN_PACKAGES:
                yield Problem(at, f"{package.name} {FORBIDDEN_PACKAGES[package.name]}", "take it out")
            if package.name in self.packages.remove:
                yield Problem(at, f"{package.name} is installed and removed", "keep one of them")

    def _kernel(self) -> Iterator[Problem]:
        at = ("kernel", "package")
        if not self.kernel.package.startswith(KERNEL_PREFIX):
            yield Problem(at, f"{self.kernel.package} is not a kernel", f"write {KERNEL_PREFIX}...")
        elif self.gpu and kernel_abi(self.kernel.package) is None:
            message = f"{self.kernel.package} is whichever kernel is newest; a driver is built for one"
            yield Problem(at, message, f"write {KERNEL_PREFIX}VERSION, as in uname -r")
        if self.gpu and self.kernel.version is None:
            yield Problem(("kernel", "version"), "is missing: a driver goes with one kernel", "add it")

    def _masked(self) -> Iterator[Problem]:
        for rule, units in MUST_BE_MASKED.items():
            for unit in units:
                if unit not in self.services.mask:
                    yield Problem(("services", "mask"), f"lacks {unit}, which policy.{rule} keeps off", "add it")
                if unit in self.services.enable:
                    yield Problem(("services", "enable"), f"holds {unit}, which policy.{rule} keeps off", "take it out")

    def _target(self) -> Iterator[Problem]:
        if self.gpu and not self.target.gpus:
            yield Problem(("target", "gpus"), "is missing: a driver is for certain GPUs", "name them: [H100]")


def kernel_abi(package: str) -> str | None:
    """`6.1.0-57-amd64` of `linux-image-6.1.0-57-amd64`; None for a package that means whichever is newest."""
    abi = package.removeprefix(KERNEL_PREFIX)
    return abi if abi[:1].isdigit() and abi.count(".") > 1 else None
