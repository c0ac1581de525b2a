"""The line of a build's log that says why it failed."""

import re
from collections.abc import Iterable

_COMPILER = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+)(:\d+)?: (fatal )?error: .+")
_OTHERS = (
    re.compile(r"ERROR: modpost: .+"),
    re.compile(r"\S*ld(\.\w+)?: .+|.+: undefined reference to .+"),
    re.compile(r"make(\[\d+\])?: \*\*\* .+"),
    re.compile(r"(E|Error!|ERROR|dpkg: error)[ :].+"),
)
_BUILD_FOLDER = re.compile(r"/var/lib/dkms/[^/]+/[^/]+/build/")


def compiler_line(log: Iterable[str]) -> str | None:
    """Return the compiler's first error as `file:line:column: error: ...`, else the linker's, else make's.

    Files of the module are named from its own folder on. None where nothing in the log speaks of an error.
    """
    lines = [_BUILD_FOLDER.sub("", line.strip()) for line in log]
    for pattern in (_COMPILER, *_OTHERS):
        for line in lines:
            if pattern.fullmatch(line):
                return line
    return None
