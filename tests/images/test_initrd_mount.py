"""The initrd mounts a real squashfs read-only under a layer in memory, in mounts of its own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from images.digest import digest_of
from tests.images.initrd_shell import POWERED_OFF, SHELLS, TOKEN, InitrdShell
from tests.images.root_server import RootServer, Step
from tests.requirements import need

INSIDE = ("unshare", "--mount", "--propagation", "private")


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> InitrdShell:
    need(os.geteuid() == 0, "needs root: it mounts")
    need(Path("/dev/loop-control").exists(), "needs loop devices")
    return InitrdShell(tmp_path, request.param)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    need(shutil.which("mksquashfs") and shutil.which("veritysetup"), "needs squashfs-tools and cryptsetup-bin")
    folder = tmp_path_factory.mktemp("root")
    tree, file = folder / "tree", folder / "root.img"
    (tree / "sbin").mkdir(parents=True)
    (tree / "sbin" / "init").symlink_to("/lib/systemd/systemd")
    (tree / "hello").write_text("from the image\n")
    subprocess.run(["mksquashfs", str(tree), str(file), "-quiet", "-no-progress"], check=True)
    offset = -(-file.stat().st_size // 4096) * 4096
    os.truncate(file, offset)
    verity = ["veritysetup", "format", f"--hash-offset={offset}", f"--data-blocks={offset // 4096}"]
    subprocess.run([*verity, str(file), str(file)], check=True, capture_output=True)
    return file.read_bytes()


def words(server: RootServer, content: bytes) -> str:
    offset = len(content) // 4096 * 4096 - 8192  # of this small root: the superblock and one block of hashes follow
    return (
        f"firstlight.server={server.url} firstlight.token={TOKEN} firstlight.root={digest_of(content)} "
        f"firstlight.verity_offset={offset} firstlight.overlay_mib=8"
    )


MOUNT = """
mkdir "$rootmnt"
fl_make_room
fl_fetch
fl_device=$(losetup -f)
losetup -r "$fl_device" "$fl_file"
trap 'losetup -d "$fl_device"' EXIT # the device goes with the last mount of it
fl_mount
"""


def test_the_root_is_mounted_and_what_is_written_stays_in_memory(shell: InitrdShell, root: bytes) -> None:
    script = (
        MOUNT
        + """
        echo changed >"$rootmnt/hello"
        dd if=/dev/zero of="$rootmnt/big" bs=1048576 count=20 2>/dev/null && echo "20 MiB fitted" >&2
        cat "$rootmnt/hello" "$fl_work/root/hello" >&2
        echo x 2>/dev/null >"$fl_work/root/hello" && echo "the lower layer took a byte" >&2
        grep -c "$fl_work" /proc/mounts >&2
        """
    )
    with RootServer(root) as server:
        ran = shell.run(script, words(server, root), INSIDE)
    assert (ran.code, ran.stderr) == (0, "changed\nfrom the image\n4\n"), ran


def test_a_server_that_sends_more_than_the_root_fills_no_memory(shell: InitrdShell, root: bytes) -> None:
    with RootServer(root, Step(content=root * 400)) as server:
        ran = shell.run(MOUNT, words(server, root), INSIDE)
    assert (ran.code, len(server.asked)) == (POWERED_OFF, 1), ran
    assert server.reports[0]["kind"] == "integrity"


def test_an_image_without_init_is_reported_before_it_is_started(shell: InitrdShell, root: bytes) -> None:
    """/init of initramfs-tools would take /bin/sh of the image instead: a shell on the console."""
    with RootServer(root) as server:
        ran = shell.run("init=/sbin/other" + MOUNT, words(server, root), INSIDE)
    assert ran.code == POWERED_OFF
    assert server.reports == [{"kind": "mount", "detail": "the image has no /sbin/other"}]


def test_a_file_that_is_no_squashfs_is_reported(shell: InitrdShell) -> None:
    content = os.urandom(40960)
    with RootServer(content) as server:
        ran = shell.run(MOUNT, words(server, content), INSIDE)
    assert ran.code == POWERED_OFF
    assert server.reports == [{"kind": "mount", "detail": "the image is no squashfs for this kernel"}]
