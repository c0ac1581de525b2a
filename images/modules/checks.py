"""Are the kernel modules of a tree for its kernel, of its driver, and signed? Pure over the files of the tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from images.modules.errors import ModuleUnreadableError
from images.modules.signature import is_signed_by, signer_name, split_signature
from images.modules.tree import ModuleFile, Violation, added_modules, module_names, module_root, own_module
from profiles.images.debian import DebianImage
from profiles.images.kinds import Lockdown
from profiles.images.lock import Lock, LockedDriver

_DRIVER = "nvidia"
_OF_DRIVER = frozenset({_DRIVER, "nvidia_modeset", "nvidia_drm", "nvidia_uvm", "nvidia_peermem"})
"""What comes with the driver, in its version; nvidia_fs and others have versions of their own."""

_OTHER_PACKAGE = "name a package of modules for this kernel, or write delivery: stage"


@dataclass(frozen=True, slots=True)
class _Kernel:
    """The kernel of a tree, and what it can load."""

    tree: Path
    abi: str
    vermagic: str | None
    names: frozenset[str]
    listed: frozenset[str]


def check_vermagic(tree: Path, lock: Lock) -> tuple[Violation, ...]:
    """Return what keeps modules from being loaded: another kernel or driver, something that they need and is not there.

    An image with a driver has modules of it. depmod has run.
    """
    abi = lock.kernel.abi
    read = list(added_modules(tree, abi))
    modules = [one for one in read if isinstance(one, ModuleFile)]
    found = [one for one in read if isinstance(one, Violation)]
    own = own_module(tree, abi)
    names = module_names(tree, abi) | {one.info.name for one in modules}
    kernel = _Kernel(tree, abi, own.vermagic if own else None, names, _listed(tree, abi))
    found += _of_other_kernels(kernel)
    for module in modules:
        found += [*_for_kernel(module, kernel), *_needs(module, kernel)]
    if lock.driver is not None:
        found += _of_driver(modules, lock.driver, abi)
    return tuple(found)


def check_signatures(tree: Path, image: DebianImage, lock: Lock) -> tuple[Violation, ...]:
    """Return the modules that nodes would not load for their signature.

    Where the profile names a key, modules of the driver are signed with it. Where the kernel is locked down or Secure
    Boot is on, every added module is signed by somebody.
    """
    certificate = _certificate(lock)
    wants_ours = image.gpu is not None and image.gpu.driver.sign_key is not None
    wants_any = image.kernel.lockdown is not Lockdown.NONE or image.target.secure_boot
    found: list[Violation] = []
    if wants_ours and certificate is None:
        remedy = "resolve the profile again, with the site's configuration"
        found.append(Violation("lock", "names no certificate, so no signature can be checked", remedy))
    for module in added_modules(tree, lock.kernel.abi):
        if isinstance(module, Violation):
            found.append(module)
        elif wants_ours and certificate is not None and _is_of_driver(module):
            found += _signed_by(module, certificate)
        elif wants_any:
            found += _signed(module)
    return tuple(found)


def _of_other_kernels(kernel: _Kernel) -> Iterator[Violation]:
    root = module_root(kernel.tree)
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if folder.name != kernel.abi and any(folder.rglob("*.ko*")):
            what = f"holds modules for {folder.name}; the kernel is {kernel.abi}"
            yield Violation(f"/{folder.relative_to(kernel.tree)}", what, _OTHER_PACKAGE)


def _for_kernel(module: ModuleFile, kernel: _Kernel) -> Iterator[Violation]:
    info = module.info
    if info.abi != kernel.abi:
        yield Violation(module.path, f"is built for {info.abi}; the kernel is {kernel.abi}", _OTHER_PACKAGE)
    elif kernel.vermagic is not None and info.vermagic != kernel.vermagic:
        what = f'is built as "{info.vermagic}", the kernel\'s own modules as "{kernel.vermagic}"'
        yield Violation(module.path, what, "build it with the headers of this kernel")


def _needs(module: ModuleFile, kernel: _Kernel) -> Iterator[Violation]:
    """Other modules, firmware, and a line in modules.dep, by which modprobe finds it."""
    for name in module.info.depends:
        if name.replace("-", "_") not in kernel.names:
            yield Violation(module.path, f"needs the module {name}, which is not there", "install what brings it")
    for name in module.info.firmware:
        if not _has_firmware(kernel.tree, name):
            yield Violation(module.path, f"needs the firmware {name}, which is not there", "install what brings it")
    if module.path.partition(f"/{kernel.abi}/")[2] not in kernel.listed:
        yield Violation(module.path, "is not in modules.dep, so that modprobe does not find it", "run depmod after it")


def _of_driver(modules: Sequence[ModuleFile], driver: LockedDriver, abi: str) -> Iterator[Violation]:
    of_driver = [one for one in modules if _is_of_driver(one)]
    if not any(one.info.name == _DRIVER for one in of_driver):
        what = f"there is no module of driver {driver.version} for {abi}"
        yield Violation(f"/lib/modules/{abi}", what, _OTHER_PACKAGE)
    for one in of_driver:
        if one.info.version != driver.version:
            what = f"is of driver {one.info.version or '(it does not say)'}; the lock has {driver.version}"
            yield Violation(one.path, what, "modules and libraries go together: install both of one version")


def _signed_by(module: ModuleFile, certificate: x509.Certificate) -> Iterator[Violation]:
    try:
        if is_signed_by(module.content, certificate):
            return
        _, message = split_signature(module.content)
        wanted = f"the certificate of {certificate.subject.rfc4514_string()}"
        if message is None:
            yield Violation(module.path, f"is not signed; {wanted} is wanted", "sign it, or write delivery: stage")
        else:
            what = f"is signed by {signer_name(message)}, and that does not verify with {wanted}"
            yield Violation(module.path, what, "sign it with the key that the profile names")
    except ModuleUnreadableError as error:
        yield Violation(module.path, str(error), "sign it with the key that the profile names")


def _signed(module: ModuleFile) -> Iterator[Violation]:
    try:
        if split_signature(module.content)[1] is None:
            what = "is not signed, and a kernel that is locked down loads no such module"
            yield Violation(module.path, what, "take a signed one, or name sign_key and delivery: stage")
    except ModuleUnreadableError as error:
        yield Violation(module.path, str(error), "take a signed one")


def _certificate(lock: Lock) -> x509.Certificate | None:
    written = lock.driver.certificate if lock.driver else None
    return x509.load_pem_x509_certificate(written.encode()) if written else None


def _is_of_driver(module: ModuleFile) -> bool:
    return module.info.name in _OF_DRIVER


def _has_firmware(tree: Path, name: str) -> bool:
    places = (tree / folder / name for folder in ("lib/firmware", "usr/lib/firmware"))
    return any(Path(f"{place}{suffix}").is_file() for place in places for suffix in ("", ".xz", ".zst"))


def _listed(tree: Path, abi: str) -> frozenset[str]:
    index = module_root(tree) / abi / "modules.dep"
    lines = index.read_text(encoding="utf-8").splitlines() if index.is_file() else []
    return frozenset(line.partition(":")[0] for line in lines)
