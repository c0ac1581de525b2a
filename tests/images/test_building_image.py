"""A whole image, from the machine's own apt sources to the store: the same bytes wherever and whenever."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from images.building.request import Stage
from images.references import read_reference
from images.store import ArtefactStore
from profiles.images.debian import ImageFile, User
from profiles.images.lock import profile_digest
from tests.images.built import SlimImage, build_profile, slim_profile
from tests.images.slim import NAME, command, link_copies, manifest_of, trees_in, with_changes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]

KEPT_STAGES = {Stage.FETCH, Stage.BOOTSTRAP, Stage.INITRD}


def listed(root: Path) -> list[str]:
    """Return every path of a packed root."""
    ran = subprocess.run(["unsquashfs", "-ls", "-d", "", root], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def files_of(root: Path, target: Path, *paths: str) -> Path:
    subprocess.run(
        ["unsquashfs", "-quiet", "-no-progress", "-d", target, root, *paths], check=True, capture_output=True
    )
    return target


def test_a_build_elsewhere_later_by_another_hand_is_the_same_image(slim: SlimImage, tmp_path: Path) -> None:
    """The whole of it again: other folder, time, umask, time zone, language, host name; only packages are kept."""
    place = tmp_path / "a folder of another name".replace(" ", "-") / "data"
    link_copies(slim.data_dir / "packages", place / "packages")
    script = 'hostname elsewhere; umask 077; exec "$@"'
    ran = subprocess.run(
        ["unshare", "--uts", "sh", "-c", script, "sh", *command(place, slim.profiles)],
        env={**os.environ, "TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "5", "XZ_OPT": "-1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == slim.digest
    assert "bootstrap: done" in ran.stderr
    assert trees_in(place) == []


def test_the_image_is_all_that_a_node_needs(slim: SlimImage, tmp_path: Path) -> None:
    store = ArtefactStore(slim.data_dir / "artefacts")
    image = manifest_of(slim)
    assert image.bootable is not None
    assert [one.role for one in image.artefacts] == ["root", "kernel", "initrd", "lock", "sbom", "tests", "cmdline"]
    words = store.path(image.artefact("cmdline").digest).read_text().split()
    assert tuple(words) == image.bootable.command_line
    root = store.verify(image.artefact("root").digest)
    offset = image.bootable.verity_offset_bytes
    verify = ["veritysetup", "verify", f"--hash-offset={offset}"]
    subprocess.run([*verify, root, root, image.bootable.verity_root_hash], check=True)
    paths = set(listed(root))
    assert {"/usr/lib/firstlight/agent.pyz", "/usr/lib/systemd/system/firstlight-agent.service"} <= paths
    assert "/etc/systemd/system/multi-user.target.wants/firstlight-agent.service" in paths
    assert not [one for one in paths if one.endswith(".pyc") or one.startswith("/boot/") or "/hooks/firstlight" in one]
    out = files_of(root, tmp_path / "out", "/etc/machine-id", "/etc/shadow", "/etc/apt", "/etc/systemd/system")
    assert (out / "etc/machine-id").read_text() == ""
    assert {line.split(":")[1] for line in (out / "etc/shadow").read_text().splitlines()} <= {"*", "!*", "!"}
    assert (out / "etc/systemd/system/apt-daily.timer").readlink() == Path("/dev/null")
    kernel = store.verify(image.artefact("kernel").digest).read_bytes()
    assert kernel[:2] == b"MZ"
    tests = json.loads(store.verify(image.artefact("tests").digest).read_bytes())["tests"]
    assert {one["id"]: one["passed"] for one in tests}["packages-as-locked"] is True


def test_the_name_stands_for_the_image_of_this_profile(slim: SlimImage) -> None:
    reference = read_reference(slim.data_dir, NAME)
    assert reference is not None
    assert reference.image == slim.digest
    assert reference.profile_digest == profile_digest(slim_profile(slim.profiles, NAME))
    assert reference.lock_digest == manifest_of(slim).artefact("lock").digest


def test_nothing_is_done_for_an_unchanged_profile(slim: SlimImage) -> None:
    built = build_profile(slim_profile(slim.profiles, NAME), slim.data_dir)
    assert (built.manifest.digest, dict(built.seconds)) == (slim.digest, {})


def test_a_changed_file_unit_or_account_does_not_bootstrap_again(
    slim: SlimImage, data_dir: Path, tmp_path: Path
) -> None:
    same = build_profile(slim_profile(slim.profiles, NAME), data_dir)
    assert same.manifest.digest == slim.digest
    assert not KEPT_STAGES & set(same.seconds)
    profile = slim_profile(slim.profiles, NAME)
    ada = User(name="ada", uid=2000, groups=("adm",), ssh_keys=("ssh-ed25519 AAAA ada",))
    motd = ImageFile(path="/etc/motd", text="hello\n", owner="ada", mode="0600")
    services = {**profile.services.model_dump(), "disable": ("chrony.service",)}
    services["enable"] = [one for one in profile.services.enable if one != "chrony.service"]
    image = with_changes(slim, files=(*profile.files, motd), users=(ada,), services=services)
    other = build_profile(image, data_dir)
    assert not {Stage.RESOLVE, *KEPT_STAGES} & set(other.seconds)
    assert other.manifest.digest != slim.digest
    assert other.manifest.artefact("initrd") == manifest_of(slim).artefact("initrd")
    root = ArtefactStore(data_dir / "artefacts").path(other.manifest.artefact("root").digest)
    out = files_of(root, tmp_path / "out", "/etc/motd", "/home/ada", "/etc/systemd/system")
    assert ((out / "etc/motd").stat().st_uid, (out / "home/ada/.ssh/authorized_keys").stat().st_uid) == (2000, 2000)
    assert not (out / "etc/systemd/system/multi-user.target.wants/chrony.service").is_symlink()
    back = build_profile(profile, data_dir)
    assert (back.manifest.digest, dict(back.seconds)) == (slim.digest, {})


def test_of_two_builds_of_one_image_one_builds_and_the_other_waits(slim: SlimImage, data_dir: Path) -> None:
    words: Sequence[str] = command(data_dir, slim.profiles)
    both = [
        subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=data_dir)
        for _ in range(2)
    ]
    ended = [(*process.communicate(), process.returncode) for process in both]
    assert [(out.splitlines()[-1:], code) for out, _, code in ended] == [([slim.digest], 0)] * 2
    assert sorted("waiting for it" in said for _, said, _ in ended) == [False, True]
    assert sorted("pack: done" in said for _, said, _ in ended) == [False, True]
