"""A tree with as little in it as the building of images asks for."""

from pathlib import Path

from images.building.tree_path import write
from profiles.images.debian import DebianImage
from profiles.images.load import load_images
from profiles.loader import IMAGES, SHIPPED

FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nbackup:x:34:34::/var/backups:/bin/false\n",
    "/etc/shadow": "root:*:20717:0:99999:7:::\nbackup:*:20717:0:99999:7:::\n",
    "/etc/group": "root:x:0:\nadm:x:4:\nbackup:x:34:\n",
    "/etc/gshadow": "root:*::\nadm:*::\nbackup:*::\n",
    "/etc/machine-id": "",
    "/usr/bin/bash": "a shell",
    "/usr/bin/sudo": "sudo",
    "/usr/lib/os-release": "ID=debian\n",
}


def small_tree(tmp_path: Path) -> Path:
    """Return a new tree; /bin is a link, as in Debian."""
    tree = tmp_path / "tree"
    tree.mkdir()
    tree.chmod(0o755)
    for path, text in FILES.items():
        write(tree, path, text.encode())
    (tree / "bin").symlink_to("usr/bin")
    return tree


def shipped(name: str = "debian-12-base", **changes: object) -> DebianImage:
    """Return a shipped profile with other values in some fields."""
    images, findings = load_images(sorted((SHIPPED / IMAGES).glob("*.yaml")))
    assert findings == []
    profile = images[name].profile
    assert isinstance(profile, DebianImage)
    return DebianImage.model_validate({**profile.model_dump(), **changes})
