"""Paths of the image inside a folder of the build host: links of the image lead to places in the image."""

from pathlib import Path

_MOST_LINKS = 40


def inside(tree: Path, path: str) -> Path:
    """Return where the node's absolute `path` lies in the tree, without following a link in its last part.

    An absolute link means the tree's root, and nothing leads above it. Raises OSError for a circle of links.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    place: list[str] = []
    links = 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            place = place[:-1]
            continue
        here = tree.joinpath(*place, part)
        if not parts or not here.is_symlink():
            place.append(part)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(f"{path}: too many links")
        target = str(here.readlink())
        place = [] if target.startswith("/") else place
        parts = [one for one in target.split("/") if one not in ("", ".")] + parts
    return tree.joinpath(*place)


def shown(tree: Path, place: Path) -> str:
    """Return the path as the node sees it."""
    return f"/{place.relative_to(tree).as_posix()}"


def write(tree: Path, path: str, content: bytes, mode: int = 0o644) -> Path:
    """Write a file of root's; folders on the way are made. What was there is replaced, also a link."""
    place = inside(tree, path)
    make_folder(place.parent)
    if place.is_symlink() or place.exists():
        place.unlink()
    place.write_bytes(content)
    place.chmod(mode)
    return place


def link(tree: Path, path: str, target: str) -> None:
    """Make a link; what was there is replaced."""
    place = inside(tree, path)
    make_folder(place.parent)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def make_folder(folder: Path) -> None:
    """Make the folder and those above it, 0755 whatever the umask is."""
    if not folder.exists():
        make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)
