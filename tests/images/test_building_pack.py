"""One file for the root, the same for the same tree, and proven to hold the tree."""

import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from images.building.compare import differences_between, verify_packed
from images.building.failures import BuildFailedError
from images.building.pack import PackedRoot, pack
from images.building.request import PublishLevel
from images.building.tools import SYSTEM_PATH, Tools, decisive_lines, tool_versions
from images.building.tree_path import write
from images.digest import digest_of
from tests.images.built import need_building_tools
from tests.images.small_trees import small_tree

KEY = digest_of(b"a build")
EPOCH = 1_700_000_000


def tools_in(folder: Path) -> Tools:
    folder.mkdir(exist_ok=True)
    return Tools(folder / "log", folder, EPOCH)


def packed_tree(folder: Path, *, level: PublishLevel = PublishLevel.LOW) -> tuple[Path, PackedRoot, Tools]:
    """Return a tree, what was packed, and the tools that packed it."""
    need_building_tools()
    tree, tools = small_tree(folder), tools_in(folder / "scratch")
    write(tree, "/usr/share/words", Random(1).randbytes(100_000))
    os.setxattr(tree / "usr/bin/sudo", "user.note", b"kept")
    return tree, pack(tree, folder / "root", KEY, level, tools), tools


def test_the_same_tree_packed_elsewhere_and_later_is_the_same_file(tmp_path: Path) -> None:
    roots = []
    for name, age in (("one", 0), ("another-and-longer", 10_000)):
        (tmp_path / name).mkdir()
        _, root, _ = packed_tree(tmp_path / name)
        roots.append(root)
        os.utime(tmp_path / name / "tree/etc/passwd", (age, age))
    one, other = roots
    assert one.path.read_bytes() == other.path.read_bytes()
    assert one.verity_root_hash == other.verity_root_hash


def test_every_time_in_the_file_is_the_images(tmp_path: Path) -> None:
    _, root, _ = packed_tree(tmp_path)
    listed = subprocess.run(
        ["unsquashfs", "-UTC", "-lln", root.path], capture_output=True, text=True, check=True
    ).stdout
    assert {tuple(line.split()[3:5]) for line in listed.splitlines() if line[:1] in "-dl"} == {("2023-11-14", "22:13")}


def test_what_was_packed_is_found_whole(tmp_path: Path) -> None:
    tree, root, tools = packed_tree(tmp_path)
    verify_packed(tree, root, tmp_path / "out", tools)
    assert list(differences_between(tree, tmp_path / "out")) == []


@pytest.mark.parametrize("place", ["squashfs", "hash tree"])
def test_one_changed_byte_anywhere_is_refused(tmp_path: Path, place: str) -> None:
    """What the node would refuse is not published."""
    tree, root, tools = packed_tree(tmp_path)
    at = 2000 if place == "squashfs" else root.verity_offset_bytes + 4096 + 5
    content = bytearray(root.path.read_bytes())
    content[at] ^= 1
    root.path.write_bytes(content)
    with pytest.raises(BuildFailedError, match="veritysetup"):
        verify_packed(tree, root, tmp_path / "out", tools)


def test_a_packer_that_loses_data_is_caught(tmp_path: Path) -> None:
    """plougher/squashfs-tools#339: what came out was not what went in, and no tool said so."""
    tree, root, tools = packed_tree(tmp_path)
    write(tree, "/usr/share/words", b"other words of no meaning")
    (tree / "etc/group").chmod(0o600)
    (tree / "etc/more").touch()
    os.setxattr(tree / "usr/bin/sudo", "user.note", b"lost")
    os.chown(tree / "etc/gshadow", 1, 1)
    with pytest.raises(BuildFailedError) as told:
        verify_packed(tree, root, tmp_path / "out", tools)
    text = str(told.value)
    expected = ("/usr/share/words: content", "/etc/group: kind or mode", "/etc/more: only in the tree")
    assert [one in text for one in (*expected, "/usr/bin/sudo: extended attribute", "/etc/gshadow: owner")] == [
        True
    ] * 5


def test_a_high_level_is_smaller_and_holds_the_same(tmp_path: Path) -> None:
    sizes = []
    for level in PublishLevel:
        folder = tmp_path / level
        folder.mkdir()
        tree, root, tools = packed_tree(folder, level=level)
        verify_packed(tree, root, folder / "out", tools)
        sizes.append(root.verity_offset_bytes)
    assert sizes[1] <= sizes[0]


def test_a_tool_that_fails_is_told_with_the_lines_that_matter_and_its_log(tmp_path: Path) -> None:
    tools = tools_in(tmp_path)
    script = "echo many words; echo 'dpkg: error processing package x (--configure):'; echo 1; echo 2; exit 3"
    with pytest.raises(BuildFailedError) as told:
        tools.run(("sh", "-c", script))
    assert str(told.value) == (
        f"sh ended with 3:\n  dpkg: error processing package x (--configure):\nlog: {tmp_path / 'log'}"
    )
    assert "many words\n" in (tmp_path / "log").read_text()


def test_a_full_disk_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError, match="the disk is full; make room"):
        tools_in(tmp_path).run(("sh", "-c", "echo 'write failed: No space left on device'; exit 1"))


def test_lines_that_only_repeat_or_name_a_package_are_left_out() -> None:
    """What mmdebstrap says after a full disk: the command line of apt, with a thousand words."""
    said = [
        "  libgpg-error-l10n netbase",
        "E: You don't have enough free space in /x.",
        "E: setup failed: E: apt-get -o x",
    ]
    assert decisive_lines([*said, "E: mmdebstrap failed to run"]) == ["E: You don't have enough free space in /x."]


def test_without_any_word_of_errors_the_last_lines_are_told() -> None:
    assert decisive_lines(["one", "", "two"]) == ["one", "two"]
    assert decisive_lines([]) == ["it said nothing"]


def test_tools_see_the_same_world_whoever_calls_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TZ", "LANG", "SOURCE_DATE_EPOCH", "FIRSTLIGHT_TOKEN", "http_proxy"):
        monkeypatch.setenv(name, "of the caller")
    said = tools_in(tmp_path).run(("sh", "-c", "env; umask"))
    assert "of the caller" not in said
    assert {"TZ=UTC", f"SOURCE_DATE_EPOCH={EPOCH}", "LC_ALL=C.UTF-8", "0022"} <= set(said.splitlines())


def test_a_tool_that_stands_alone_reaches_no_network(tmp_path: Path) -> None:
    need_building_tools()
    said = tools_in(tmp_path).run(("sh", "-c", "cat /proc/net/dev; echo $$"), alone=True)
    assert [line.split(":")[0].strip() for line in said.splitlines() if ":" in line] == ["lo"]
    assert said.splitlines()[-1] == "1"


def test_missing_tools_are_named_by_their_packages(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError, match="apt install cryptsetup-bin mmdebstrap squashfs-tools tar util-linux"):
        tool_versions(str(tmp_path))
    need_building_tools()
    assert all("version" in one or "." in one for one in tool_versions(SYSTEM_PATH).values())
