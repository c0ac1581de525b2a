"""The kernel modules in a tree: those of the kernel itself, and those that came to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from images.modules.compression import SUFFIXES, decompress
from images.modules.errors import ModuleUnreadableError
from images.modules.module_info import ModuleInfo, module_info

_ENDING = re.compile(r"\.ko(\.\w+)?$")


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that no image may have. `path`: where, as the node would see it."""

    path: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.path}: {self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """`path`: as the node sees it. `content`: unpacked, with its signature."""

    path: str
    content: bytes
    info: ModuleInfo


def module_root(tree: Path) -> Path:
    """Return the folder of all kernels' modules."""
    merged = tree / "usr/lib/modules"
    return merged if merged.is_dir() else tree / "lib/modules"


def added_modules(tree: Path, abi: str) -> Iterator[ModuleFile | Violation]:
    """Yield the modules of a kernel that are not its own, by path; a Violation for a file that is none."""
    own = module_root(tree) / abi
    for path in sorted(_files(own)):
        if path.relative_to(own).parts[0] != "kernel":
            yield _read(path, tree)


def own_module(tree: Path, abi: str) -> ModuleInfo | None:
    """Return one of the kernel's own modules, to compare with; None where it brings none that can be read."""
    for path in sorted(_files(module_root(tree) / abi / "kernel")):
        found = _read(path, tree)
        if isinstance(found, ModuleFile):
            return found.info
    return None


def module_names(tree: Path, abi: str) -> frozenset[str]:
    """Return the names of all modules of a kernel, those inside it too, with `_` for `-` as modprobe does."""
    own = module_root(tree) / abi
    names = {_ENDING.sub("", path.name) for path in _files(own)}
    built_in = own / "modules.builtin"
    if built_in.is_file():
        lines = built_in.read_text(encoding="utf-8").split()
        names |= {_ENDING.sub("", Path(line).name) for line in lines}
    return frozenset(name.replace("-", "_") for name in names)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.ko*") if path.is_file() and path.name.endswith(SUFFIXES))


def _read(path: Path, tree: Path) -> ModuleFile | Violation:
    shown = f"/{path.relative_to(tree)}"
    try:
        content = decompress(path.read_bytes(), path.name)
        return ModuleFile(shown, content, module_info(content))
    except ModuleUnreadableError as error:
        return Violation(shown, str(error), "replace the package that brings it")
