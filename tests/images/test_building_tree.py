"""What is put into a tree, and what is taken out of it."""

import os
from pathlib import Path

import pytest

from images.building.clean import clean
from images.building.customise import write_file
from images.building.failures import BuildFailedError
from images.building.settings_files import kernel_files, system_files
from images.building.site_files import find_site_files
from images.building.tree_path import inside, link, write
from images.building.users import add_users, settle_passwords, user_ids
from images.digest import digest_of, hex_of
from profiles.images.debian import ImageFile, User
from profiles.images.egress import egress_ruleset
from tests.images.small_trees import shipped, small_tree
from tests.requirements import need

ADA = User(name="ada", uid=2000, groups=("adm",), ssh_keys=("ssh-ed25519 AAAA ada",), sudo=True)


@pytest.mark.parametrize("target", ["/etc", "../../../../etc", "/../etc", "../usr/../etc"])
def test_links_of_the_image_lead_to_places_in_the_image(tmp_path: Path, target: str) -> None:
    """A root shell of the build host must not be within the reach of a link in a package."""
    tree = small_tree(tmp_path)
    (tree / "trap").symlink_to(target)
    assert inside(tree, "/trap/passwd") == tree / "etc" / "passwd"


def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    (tree / "one").symlink_to("two")
    (tree / "two").symlink_to("one")
    with pytest.raises(OSError, match="/one/x: too many links"):
        inside(tree, "/one/x")


def test_a_file_takes_the_place_of_a_link_and_not_of_what_it_leads_to(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    link(tree, "/etc/resolv.conf", "/usr/lib/os-release")
    write(tree, "/etc/resolv.conf", b"new")
    assert (tree / "etc/resolv.conf").read_text() == "new"
    assert (tree / "usr/lib/os-release").read_text() == "ID=debian\n"


def test_folders_on_the_way_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    before = os.umask(0o077)
    try:
        place = write(tree, "/opt/a/b/file", b"")
    finally:
        os.umask(before)
    assert [oct(one.stat().st_mode & 0o777) for one in (place, place.parent, tree / "opt")] == ["0o644", *["0o755"] * 2]


def test_an_account_comes_in_by_key_and_has_no_password(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "files of other users need root")
    tree = small_tree(tmp_path)
    assert add_users(tree, (ADA,)) == []
    settle_passwords(tree, 86400 * 20000)
    keys = tree / "home/ada/.ssh/authorized_keys"
    assert user_ids(tree, "ada") == (2000, 2000)
    assert (keys.read_text(), keys.stat().st_uid, oct(keys.stat().st_mode)) == (
        "ssh-ed25519 AAAA ada\n",
        2000,
        "0o100600",
    )
    assert (tree / "etc/shadow").read_text().splitlines()[-1] == "ada:*:20000:0:99999:7:::"
    assert {line.split(":")[2] for line in (tree / "etc/shadow").read_text().splitlines()} == {"20000"}
    assert "adm:x:4:ada\n" in (tree / "etc/group").read_text()
    assert (tree / "etc/sudoers.d/ada").read_text() == "ada ALL=(ALL:ALL) NOPASSWD: ALL\n"


def test_everything_that_is_wrong_with_an_account_is_told_at_once(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    (tree / "usr/bin/sudo").unlink()
    wrong = ADA.model_copy(update={"uid": 34, "groups": ("nobody-here",), "shell": "/bin/zsh"})
    told = "\n".join(map(str, add_users(tree, (wrong,))))
    assert [word in told for word in ("uid 34", "nobody-here", "/bin/zsh", "sudo")] == [True] * 4
    assert user_ids(tree, "ada") is None


@pytest.mark.parametrize(
    ("file", "word"),
    [
        (ImageFile(path="/run/x", text=""), "emptied"),
        (ImageFile(path="/etc/nftables.conf", text=""), "policy.egress"),
        (ImageFile(path="/etc/x", text="", owner="nobody-here"), "no user"),
        (ImageFile(path="/usr/bin", text=""), "folder"),
    ],
)
def test_a_file_that_cannot_be_is_told_with_its_path(tmp_path: Path, file: ImageFile, word: str) -> None:
    (found,) = write_file(small_tree(tmp_path), file, {})
    assert found.path == file.path
    assert word in found.what


def test_a_file_of_the_site_is_found_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "ca.crt").write_bytes(b"a certificate")
    digest = hex_of(digest_of(b"a certificate"))
    assert find_site_files(tmp_path / "site", [digest]) == {digest: tmp_path / "site" / "ca.crt"}


def test_all_missing_files_of_the_site_are_named(tmp_path: Path) -> None:
    wanted = [hex_of(digest_of(word)) for word in (b"one", b"two")]
    with pytest.raises(BuildFailedError) as told:
        find_site_files(tmp_path, wanted)
    assert all(one in str(told.value) for one in wanted)


def test_what_a_build_leaves_behind_is_taken_out_and_doing_so_again_changes_nothing(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    leftovers = (
        *(
            "/etc/ssh/ssh_host_rsa_key",
            "/etc/hostname",
            "/etc/shadow-",
            "/var/lib/systemd/random-seed",
            "/boot/vmlinuz",
        ),
        *("/var/log/apt/history.log", "/var/log/dpkg.log", "/var/cache/ldconfig/aux-cache", "/var/lib/dbus/machine-id"),
        *("/usr/lib/python3/__pycache__/a.pyc", "/var/lib/apt/lists/x", "/vmlinuz", "/run/x", "/etc/.pwd.lock"),
    )
    for path in leftovers:
        write(tree, path, b"x")
    clean(tree)
    clean(tree)
    assert [path for path in leftovers if inside(tree, path).exists()] == []
    assert (tree / "var/log/apt").is_dir()  # services do not make their folder again
    assert (tree / "etc/passwd").exists()


def test_denied_modules_cannot_be_loaded_by_anything() -> None:
    image = shipped("gpu-r580-gb200")
    text = kernel_files(image)["/etc/modprobe.d/firstlight.conf"]
    assert "blacklist nouveau\ninstall nouveau /bin/false\n" in text
    assert "options nvidia NVreg_CoherentGPUMemoryMode=driver\n" in text
    assert kernel_files(image)["/etc/modules-load.d/firstlight.conf"].splitlines() == list(image.kernel.load_modules)


def test_the_egress_policy_is_what_nftables_loads() -> None:
    image = shipped()
    assert system_files(image)["/etc/nftables.conf"] == egress_ruleset(image)
