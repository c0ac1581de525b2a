"""Image profiles that inherit: what comes out, and what every mistake is answered with."""

from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from profiles.findings import ProfileError
from profiles.images.debian import DebianImage
from profiles.images.egress import egress_ruleset
from profiles.images.explain import explain
from profiles.images.kinds import CoherentMemory
from profiles.images.schema import image_schema
from profiles.loader import SHIPPED, load_catalog
from tests.profiles.catalogs import FILES, edited, write_catalog
from tests.profiles.image_files import IMAGES, child, debian, load, one

GOLDEN = Path(__file__).parent / "egress.nft"
SHIPPED_IMAGES = load_catalog(SHIPPED).images


def test_a_child_has_what_its_parents_have_and_what_it_says(tmp_path: Path) -> None:
    text = """\
kernel: {cmdline: [{key: panic, value: "5"}, {key: debug}]}
packages: {install: [{name: kmod, version: "30-1"}, {name: fio}]}
boot: {consoles: [tty0, hvc0]}
"""
    profile = debian(tmp_path, "child", child(text)["child"])
    assert [(one.key, one.value) for one in profile.kernel.cmdline] == [
        ("panic", "5"),
        ("quiet", None),
        ("debug", None),
    ]
    assert [(one.name, one.version) for one in profile.packages.install] == [
        ("udev", None),
        ("kmod", "30-1"),
        ("fio", None),
    ]
    assert profile.boot.consoles == ("tty0", "hvc0")
    assert profile.boot.root.overlay_mib == 1024
    assert not profile.abstract


def test_markers_take_away_and_replace(tmp_path: Path) -> None:
    text = """\
kernel: {cmdline: [{$remove: quiet}], $remove: [version]}
packages: {install: {$replace: [{name: fio}]}}
boot: {$replace: {method: ipxe, root: {overlay_mib: 1}, consoles: [ttyS0]}}
"""
    profile = debian(tmp_path, "child", child(text)["child"])
    assert [one.key for one in profile.kernel.cmdline] == ["panic"]
    assert profile.kernel.version is None
    assert [one.name for one in profile.packages.install] == ["fio"]
    assert (profile.boot.method, profile.boot.consoles) == ("ipxe", ("ttyS0",))


def test_a_common_grandparent_does_not_undo_what_the_first_parent_says(tmp_path: Path) -> None:
    changed = {
        "left": "name: left\ndescription: l\nextends: [elder]\nbudgets: {max_root_mib: 7}\n",
        "right": "name: right\ndescription: r\nextends: [elder]\nbudgets: {max_uki_mib: 8}\n",
        **child("", "left, right"),
    }
    images, findings = load(tmp_path, changed)
    assert not findings
    profile = images["child"].profile
    assert isinstance(profile, DebianImage)
    assert images["child"].chain == ("elder", "left", "right", "child")
    assert (profile.budgets.max_root_mib, profile.budgets.max_uki_mib) == (7, 8)


def test_explain_names_file_and_line_of_every_value_and_what_it_won_against(tmp_path: Path) -> None:
    text = """\
kernel: {cmdline: [{key: panic, value: "5"}, {$remove: quiet}]}
boot: {consoles: {$replace: [ttyS0]}}
"""
    explained = {one.field: one for one in explain(one(tmp_path, "child", child(text)["child"]))}
    panic = explained["kernel.cmdline[panic].value"]
    assert (panic.value, panic.where) == ('"5"', "child.yaml:4")
    assert [(lost.value, lost.where) for lost in panic.overrode] == [('"30"', "elder.yaml:11")]
    assert (explained["kernel.cmdline[quiet]"].value, explained["kernel.cmdline[quiet]"].where) == (
        "removed",
        "child.yaml:4",
    )
    consoles = explained["boot.consoles"]
    assert (consoles.value, consoles.where) == ('["ttyS0"]', "child.yaml:5")
    assert [(lost.value, lost.where) for lost in consoles.overrode] == [("[...]", "elder.yaml:32")]
    assert (explained["arch"].where, explained["base.variant"].where) == ("elder.yaml:5", "default")
    assert next(iter(explained)) == "name"


def test_the_egress_policy_becomes_a_ruleset_of_nftables(tmp_path: Path) -> None:
    text = """\
policy:
  egress:
    allow:
    - {cidr: 10.0.0.0/8, protocol: udp, port: 53, why: names}
    - {cidr: "fd00::/8", protocol: tcp, port: 443, why: 'said "so"; drop'}
    - {cidr: 192.0.2.7/32, protocol: tcp, port: 443, why: a mirror}
"""
    profile = debian(tmp_path, "child", child(text)["child"])
    assert egress_ruleset(profile) == GOLDEN.read_text()
    allow = profile.policy.egress.allow
    turned = profile.policy.egress.model_copy(update={"allow": tuple(reversed(allow))})
    policy = profile.policy.model_copy(update={"egress": turned})
    assert egress_ruleset(profile.model_copy(update={"policy": policy})) == GOLDEN.read_text()


def test_the_agent_images_are_what_they_were() -> None:
    """Their content is part of the digest of releases."""
    for name, arch in (("agent-x86-64", "x86_64"), ("agent-arm64", "arm64")):
        content = SHIPPED_IMAGES[name].model_dump(mode="json", exclude={"description"})
        assert content == {"name": name, "arch": arch, "root": "agent"}


@pytest.mark.parametrize(
    "image", [one for one in SHIPPED_IMAGES.values() if isinstance(one, DebianImage)], ids=lambda one: one.name
)
def test_every_shipped_image_is_closed_and_has_its_tests(image: DebianImage) -> None:
    assert image.policy.egress.default == "deny"
    assert all(rule.cidr == "10.0.0.0/8" for rule in image.policy.egress.allow)
    stages = {test.stage for test in image.tests if test.blocking}
    assert {"build", "boot"} <= stages
    assert ("hardware" in stages) == (image.gpu is not None)
    assert (image.base.suite == "trixie") == (image.name == "debian-13-base")
    if image.gpu is not None:
        grace = image.arch == "arm64"
        assert image.gpu.memory_mode is (CoherentMemory.DRIVER if grace else CoherentMemory.NOT_APPLICABLE)
        assert image.gpu.module_options.get("NVreg_CoherentGPUMemoryMode") == ("driver" if grace else None)
        assert "nouveau" in image.kernel.deny_modules


def test_the_shipped_images_are_those_that_are_promised() -> None:
    names = {name for name, image in SHIPPED_IMAGES.items() if isinstance(image, DebianImage)}
    gpu = {f"gpu-{branch}{tray}" for branch in ("r580", "r595", "r620") for tray in ("", "-gb200")}
    assert names >= {"debian-12-base", "debian-13-base", "burn-in", "gpu-r535-debian", *gpu}


def test_the_schema_takes_every_file_and_refuses_a_slip() -> None:
    schema = image_schema()
    for path in (SHIPPED / "images").glob("*.yaml"):
        assert jsonschema_rs.is_valid(schema, yaml.safe_load(path.read_text())), path.name
    written = yaml.safe_load((SHIPPED / "images" / "burn-in.yaml").read_text())
    slips: tuple[dict[str, object], ...] = ({"kernl": {}}, {"kernel": {"version": 12.10}}, {"boot": {"consoles": [1]}})
    for slip in slips:
        assert not jsonschema_rs.is_valid(schema, {**written, **slip}), slip


def test_a_release_names_an_image_that_can_be_built(tmp_path: Path) -> None:
    abstract = "name: frame\ndescription: f\nabstract: true\nroot: debian\n"
    changed = {"images/frame.yaml": abstract} | edited("releases/box-first.yaml", "image: agent", "image: frame")
    with pytest.raises(ProfileError) as caught:
        load_catalog(write_catalog(tmp_path, changed))
    assert [str(finding).removeprefix(f"{tmp_path}/") for finding in caught.value.findings] == [
        'releases/box-first.yaml:4: image: "frame" is abstract: it is there for others to inherit; name one that fits'
    ]


def test_a_release_may_name_a_debian_image(tmp_path: Path) -> None:
    images = {f"images/{name}.yaml": text for name, text in IMAGES.items()}
    changed = images | {"releases/box-first.yaml": FILES["releases/box-first.yaml"].replace("agent", "plain")}
    catalog = load_catalog(write_catalog(tmp_path, changed))
    release = catalog.resolve_release("box-first", "sha256:" + "ab" * 32)
    assert isinstance(release.image, DebianImage)
    assert release.digest.startswith("sha256:")
