"""Small files that others see whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes, *, through: Path | None = None) -> None:
    """Who reads meanwhile finds the old file or the new one. `through`: the folder where it is written first, on the
    same file system; its own where none is named.
    """
    for folder in (path.parent, through or path.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=through or path.parent, prefix=".new-", delete=False) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).chmod(0o644)
            Path(new.name).replace(path)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise


def sync_directory(directory: Path) -> None:
    """Bring the names in a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
