"""What every mistake in an image profile is answered with."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.profiles.image_files import IMAGES, child, edited, load


def findings_of(directory: Path, changed: Mapping[str, str]) -> list[str]:
    _, findings = load(directory, changed)
    return [str(finding).removeprefix(f"{directory}/") for finding in sorted(findings)]


MISTAKES = [
    (
        edited("gpu", '"580.126.20"', "580.65"),
        ['gpu.yaml:8: gpu.driver.version: 580.65 is read by YAML as a number, not as text; quote it: "580.65"'],
    ),
    (
        child("kernel: {version: 12.10}"),
        ['child.yaml:4: kernel.version: 12.10 is read by YAML as a number, not as text; quote it: "12.10"'],
    ),
    (
        child("policy: {telemetry: off}"),
        ['child.yaml:4: policy.telemetry: off is read by YAML as true or false, not as text; quote it: "off"'],
    ),
    (
        edited("elder", 'telemetry: "off"', 'telemetry: "on"'),
        ["elder.yaml:27: policy.telemetry: 'on' is not one of off; known: off"],
    ),
    (child("kernl: {}"), ['child.yaml:4: kernl: is not a known key; did you mean "kernel"?']),
    (
        child("packages: {install: [{name: fio, versoin: '1'}]}"),
        ['child.yaml:4: packages.install[0].versoin: is not a known key; did you mean "version"?'],
    ),
    (
        edited("elder", "max_uki_mib", "max_uki"),
        [
            'elder.yaml:33: budgets.max_uki: is not a known key; did you mean "max_uki_mib"?',
            "gpu.yaml:1: budgets.max_uki_mib: is missing; add it",
            "plain.yaml:1: budgets.max_uki_mib: is missing; add it",
        ],
    ),
    (
        child("", "elder, eldr"),
        ['child.yaml:3: extends[1]: there is no images/eldr.yaml (child -> eldr); did you mean "elder"?'],
    ),
    (
        {**child("", "middle"), "middle": "name: middle\ndescription: m\nextends: [absent, gone]\n"},
        [
            "middle.yaml:3: extends[0]: there is no images/absent.yaml (child -> middle -> absent); "
            "known: child, elder, gpu, middle, plain",
            "middle.yaml:3: extends[1]: there is no images/gone.yaml (child -> middle -> gone); "
            "known: child, elder, gpu, middle, plain",
        ],
    ),
    (
        {
            "elder": IMAGES["elder"] + "extends: [circle]\n",
            "circle": "name: circle\ndescription: c\nabstract: true\nextends: [elder]\n",
        },
        ["circle.yaml:4: extends[0]: goes round in a circle: elder -> circle -> elder; take one of them out"],
    ),
    (child("", "child"), ["child.yaml:3: extends[0]: goes round in a circle: child -> child; take one of them out"]),
    (
        {
            f"d{number}": f"name: d{number}\ndescription: deep\nabstract: true\nextends: [d{number + 1}]\n"
            for number in range(8)
        }
        | {"d8": "name: d8\ndescription: deep\nabstract: true\nroot: debian\n"},
        [
            "d7.yaml:4: extends[0]: makes more than 8 profiles in a row: "
            "d0 -> d1 -> d2 -> d3 -> d4 -> d5 -> d6 -> d7 -> d8; take one of them out"
        ],
    ),
    (child("gpu:"), ["child.yaml:4: gpu: has no value; write one, or take an inherited one away with $remove"]),
    (
        child("packages: {install: [{$remove: udv}]}"),
        ['child.yaml:4: packages.install[0]: there is no inherited "udv" to remove; did you mean "udev"?'],
    ),
    (
        child("kernel: {$remove: cmdline}"),
        ["child.yaml:4: kernel.$remove: must be a list of keys; write $remove: [key, key]"],
    ),
    (
        child("kernel: {$delete: [cmdline]}"),
        ["child.yaml:4: kernel.$delete: is not a marker; known: $remove, $replace"],
    ),
    (
        child("kernel: {$remove: [version], version: '1'}"),
        ["child.yaml:4: kernel.version: is removed and written: write $replace inside it"],
    ),
    (
        child("kernel: {$replace: {}, version: '1'}"),
        ["child.yaml:4: kernel.$replace: stands alone in its mapping; write everything below it"],
    ),
    (
        child("arch: {$replace: arm64}"),
        ["child.yaml:4: arch.$replace: is for mappings and lists; write the value itself: a later one wins"],
    ),
    (child("boot: {consoles: [a, a]}"), ["child.yaml:4: boot.consoles[1]: a is there twice; keep one of them"]),
    (
        child("packages: {install: [{$remove: udev}, {name: udev}]}"),
        [
            "child.yaml:4: packages.install[0]: udev is removed and written; write the whole list below $replace",
        ],
    ),
    (
        child("packages: {install: [{$remove: udev, name: x}]}"),
        ["child.yaml:4: packages.install[0]: $remove stands alone in its item; give the rest an item of its own"],
    ),
    (child("extends: elder", "elder"), ["child.yaml:4: extends: is written twice, first on line 3; keep one of them"]),
    (
        {"child": "name: child\ndescription: c\nextends: elder\n"},
        ["child.yaml:3: extends: must be a list of names; write extends: [name]"],
    ),
    ({"child": "name: child\ndescription: c\n"}, ["child.yaml:1: root: is missing; write one of agent, debian"]),
    (child("root: debain"), ["child.yaml:4: root: 'debain' is not one of agent, debian; did you mean \"debian\"?"]),
    (
        child("packages: {install: [{name: linux-image-amd64}, {name: popularity-contest}]}"),
        [
            "child.yaml:4: packages.install[0]: linux-image-amd64 is a second kernel beside "
            "linux-image-6.1.0-57-amd64; an image has one kernel: kernel.package",
            "child.yaml:4: packages.install[1]: popularity-contest reports what is installed; take it out",
        ],
    ),
    (
        child("services: {mask: [{$remove: motd-news.timer}], enable: [apt-daily.timer]}"),
        [
            "child.yaml:4: services.mask: lacks motd-news.timer, which policy.telemetry keeps off; add it",
            "child.yaml:4: services.enable: holds apt-daily.timer, which policy.unattended_upgrades keeps off; "
            "take it out",
        ],
    ),
    (
        child("policy: {egress: {allow: [{cidr: 10.0.0.1/8, protocol: tcp, port: 70000, why: x}]}}"),
        [
            "child.yaml:4: policy.egress.allow[0].cidr: is not a network: 10.0.0.1/8 has host bits set; "
            "write it like 10.0.0.0/8 or fd00::/8",
            "child.yaml:4: policy.egress.allow[0].port: input should be less than or equal to 65535",
        ],
    ),
    (
        edited("gpu", "  memory_mode: not_applicable\n", ""),
        ["gpu.yaml:8: gpu.memory_mode: is missing; add it"],
    ),
    (
        edited("gpu", "  memory_mode: not", '  fabric_manager: "580.126.20"\n  memory_mode: not'),
        [
            "gpu.yaml:9: gpu.fabric_manager: never has a version of its own: it follows the driver and the platform; "
            "write auto (what the platforms need) or absent"
        ],
    ),
    (
        edited("gpu", "  packages:", "  module_params: {NVreg_CoherentGPUMemoryMode: numa}\n  packages:"),
        [
            "gpu.yaml:10: gpu.module_params.NVreg_CoherentGPUMemoryMode: is written by memory_mode; "
            "leave it out and set memory_mode"
        ],
    ),
    (
        edited("gpu", 'version: "580.126.20"', 'version: "595.58.03"'),
        ["gpu.yaml:8: gpu.driver.version: 595.58.03 is not of R580; correct one of them"],
    ),
    (
        edited("gpu", "nvidia-modules]", "nvidia-kernel-open-dkms]"),
        [
            "gpu.yaml:11: gpu.packages.driver[1]: nvidia-kernel-open-dkms compiles on the node for whatever kernel "
            "runs; name a package of built modules, or write delivery: stage"
        ],
    ),
    (
        edited("gpu", "delivery: prebuilt", "delivery: stage"),
        [
            "gpu.yaml:8: gpu.driver.sign_key: is missing: built modules are signed; name a key of the site",
            "gpu.yaml:11: gpu.packages.module_source: is missing: delivery: stage builds modules from a package of "
            "source; name it: nvidia-kernel-dkms",
        ],
    ),
    (
        edited("gpu", "    fabric_manager", "    module_source: nvidia-kernel-dkms\n    fabric_manager"),
        [
            "gpu.yaml:12: gpu.packages.module_source: is only built where the driver says delivery: stage; "
            "keep one of them"
        ],
    ),
    (
        edited("gpu", "  memory_mode: not", '  dcgm: "4.2.3"\n  memory_mode: not'),
        ["gpu.yaml:12: gpu.packages.dcgm: is missing: dcgm has a version; name the package"],
    ),
    (
        {"gpu": IMAGES["gpu"] + "kernel: {package: linux-image-amd64, $remove: [version]}\n"},
        [
            "gpu.yaml:13: kernel.version: is missing: a driver goes with one kernel; add it",
            "gpu.yaml:13: kernel.package: linux-image-amd64 is whichever kernel is newest; a driver is built for one; "
            "write linux-image-VERSION, as in uname -r",
        ],
    ),
    (
        edited("gpu", "  gpus: [H100]\n", ""),
        ["gpu.yaml:5: target.gpus: is missing: a driver is for certain GPUs; name them: [H100]"],
    ),
    (
        child("base: {snapshot: '2026-11-29'}"),
        ['child.yaml:4: base.snapshot: is not a time in UTC; write it like "2026-11-29T00:00:00Z"'],
    ),
    (
        child("files: [{path: /etc/motd}]"),
        ["child.yaml:4: files[0]: needs one of text and sha256; write the text, or name a file of the site"],
    ),
    (
        {"child": "name: chidl\ndescription: c\nextends: [elder]\n"},
        ['child.yaml:1: name: "chidl" differs from the name of the file; write "child" or rename the file'],
    ),
]


@pytest.mark.parametrize(("changed", "expected"), MISTAKES, ids=[told[0].split(";")[0] for _, told in MISTAKES])
def test_a_mistake_is_answered_where_it_is_written(
    tmp_path: Path, changed: dict[str, str], expected: list[str]
) -> None:
    assert findings_of(tmp_path, changed) == expected


def test_a_mistake_of_a_parent_is_told_once(tmp_path: Path) -> None:
    changed = edited("elder", "kernel:\n", "kernel:\n  modules: []\n") | child("", "plain")
    assert findings_of(tmp_path, changed) == [
        'elder.yaml:8: kernel.modules: is not a known key; did you mean "load_modules"?'
    ]


def test_a_parent_that_cannot_be_read_brings_no_finding_for_its_children(tmp_path: Path) -> None:
    assert findings_of(tmp_path, {"elder": "name: [\n"}) == [
        "elder.yaml:2: is not YAML: did not find expected node content; "
        "check the indentation, colons and quotes near here"
    ]


def test_all_mistakes_of_all_files_come_at_once(tmp_path: Path) -> None:
    changed = {
        **edited("gpu", "H100]", "H100]\n  gpu: 1"),
        **edited("plain", "no driver", '""'),
        **child("", "absent"),
    }
    assert [text.split(":")[0] for text in findings_of(tmp_path, changed)] == ["child.yaml", "gpu.yaml", "plain.yaml"]
