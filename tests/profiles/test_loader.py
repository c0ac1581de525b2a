"""Profiles written by people: what is accepted, and what every mistake is answered with."""

from pathlib import Path

import pytest

from profiles.findings import ProfileError
from profiles.loader import load_catalog
from tests.profiles.catalogs import FILES, edited, write_catalog

IMAGE = "sha256:" + "ab" * 32


def findings_of(directory: Path) -> list[str]:
    with pytest.raises(ProfileError) as caught:
        load_catalog(directory)
    return [str(finding).removeprefix(f"{directory}/") for finding in caught.value.findings]


def test_a_complete_catalog_loads_and_resolves(tmp_path: Path) -> None:
    catalog = load_catalog(write_catalog(tmp_path))
    release = catalog.resolve_release("box-first", IMAGE)
    assert release.firmware.components[0].version == "1.10"
    assert release.bios.attributes == {"Above4GDecoding": "Enabled", "Retries": 3, "SriovSupport": True}
    assert release.burn_in.items[0].deadline.total_seconds() == 90
    assert release.digest.startswith("sha256:")


MISTAKES = [
    (
        edited("firmware/box-1.yaml", '"1.10"', "1.10"),
        'firmware/box-1.yaml:6: versions.bmc: 1.10 is read by YAML as a number, not as text; quote it: "1.10"',
    ),
    (
        edited("firmware/box-1.yaml", '"1.10"', "2024-01-05"),
        'firmware/box-1.yaml:6: versions.bmc: 2024-01-05 is read as a date; quote it: "2024-01-05"',
    ),
    (
        edited("bios/box-gpu.yaml", "optional: [Retries]", "optional: [Retrys]"),
        'bios/box-gpu.yaml:8: optional[0]: "Retrys" has no value in attributes; did you mean "Retries"?',
    ),
    (
        edited("bios/box-gpu.yaml", "Retries: 3", "Retries: 3\n  Retries: 4"),
        "bios/box-gpu.yaml:7: attributes.Retries: is written twice, first on line 6; keep one of them",
    ),
    (
        edited("bios/box-gpu.yaml", "Retries: 3", "Retries: 3.5"),
        "bios/box-gpu.yaml:6: attributes.Retries: 3.5 is read by YAML as a fraction; "
        "quote it if the BMC shows it as text",
    ),
    (
        edited("burnin/quick.yaml", "90s", "90"),
        "burnin/quick.yaml:8: items[0].deadline: is not a duration; write a number and a unit: 90s, 15m, 2h",
    ),
    (
        edited("burnin/quick.yaml", "mismatches: 0", "mismatch: 0"),
        "burnin/quick.yaml:10: items[0].ceilings.mismatch: is not known to this kind of check; "
        'did you mean "mismatches"?',
    ),
    (
        edited("burnin/quick.yaml", "{seconds: 2}", "{}"),
        "burnin/quick.yaml:7: items[0].parameters.seconds: is missing; add it",
    ),
    (
        edited("burnin/quick.yaml", "    deadline: 90s\n", ""),
        "burnin/quick.yaml:5: items[0].deadline: is missing; add it",
    ),
    (
        edited("releases/box-first.yaml", "firmware: box-1", "firmware: box-2"),
        'releases/box-first.yaml:5: firmware: there is no firmware/box-2.yaml; did you mean "box-1"?',
    ),
    (
        edited("images/agent.yaml", "x86_64", "arm64"),
        'releases/box-first.yaml:4: image: "agent" is for arm64, box is x86_64; name one that fits',
    ),
    (
        edited("images/agent.yaml", "name: agent", "name: agents"),
        'images/agent.yaml:1: name: "agents" differs from the name of the file; write "agent" or rename the file',
    ),
    (
        edited("burnin/quick.yaml", "threads: 1", "threads: .nan"),
        "burnin/quick.yaml:9: items[0].floors.threads: must be a finite number",
    ),
    (
        edited("burnin/quick.yaml", "seconds: 2", "seconds: true"),
        "burnin/quick.yaml:7: items[0].parameters.seconds: must be a number",
    ),
    (
        edited("burnin/quick.yaml", "seconds: 2", "seconds: -1"),
        "burnin/quick.yaml:7: items[0].parameters.seconds: input should be greater than 0",
    ),
    (
        edited("burnin/quick.yaml", "90s", "400d"),
        "burnin/quick.yaml:8: items[0].deadline: is not between 1ms and 365d; write a number and a unit: 90s, 15m, 2h",
    ),
    (
        edited("bios/box-gpu.yaml", "Retries: 3", "Retries: [3]"),
        "bios/box-gpu.yaml:6: attributes.Retries: must be text, a whole number, true or false; quote it if it is text",
    ),
    (
        edited("hardware/box.yaml", "[Supermicro]", "[]"),
        "hardware/box.yaml:4: match.manufacturer: is empty; list at least one",
    ),
    (
        edited("hardware/box.yaml", "[Supermicro]", "Supermicro"),
        "hardware/box.yaml:4: match.manufacturer: must be a list (- item), not text",
    ),
    (
        {"images/other.yml": ""},
        "images/other.yml:1: is not read; rename it to .yaml",
    ),
    (
        {"images/agent.yaml": "- name: agent\n"},
        "images/agent.yaml:1: must be a mapping (key: value), not a list",
    ),
    (
        {"images/agent.yaml": "# nothing yet\n"},
        "images/agent.yaml:1: the file is empty; write the profile or delete the file",
    ),
    (
        edited("images/agent.yaml", "arch: x86_64", "\tarch: x86_64"),
        "images/agent.yaml:3: is not YAML: found a tab character that violates indentation; "
        "indent with spaces, not tabs; quote text that begins with @, ` or %",
    ),
]


@pytest.mark.parametrize(("changed", "expected"), MISTAKES, ids=[text.split(";")[0] for _, text in MISTAKES])
def test_a_mistake_is_answered_with_its_line_and_its_remedy(
    tmp_path: Path, changed: dict[str, str], expected: str
) -> None:
    assert findings_of(write_catalog(tmp_path, changed)) == [expected]


def test_a_bundle_for_another_class_is_refused_where_it_is_named(tmp_path: Path) -> None:
    other = {"hardware/other.yaml": FILES["hardware/box.yaml"].replace("name: box", "name: other")}
    other["firmware/catalogs/other.yaml"] = FILES["firmware/catalogs/box.yaml"].replace("class: box", "class: other")
    changed = other | edited("firmware/box-1.yaml", "hardware_class: box", "hardware_class: other")
    assert findings_of(write_catalog(tmp_path, changed)) == [
        'releases/box-first.yaml:5: firmware: "box-1" is for other, this release is for box; name one that fits'
    ]


def test_all_findings_of_all_files_come_at_once(tmp_path: Path) -> None:
    changed = (
        edited("firmware/catalogs/box.yaml", "bmc_reset", "bmc_rest")
        | edited("hardware/box.yaml", "gpu_count: 8", "gpu_count: -1\ngpus: 8")
        | edited("releases/box-first.yaml", "burn_in: quick", "burn_in: slow")
    )
    found = findings_of(write_catalog(tmp_path, changed))
    assert [text.split(":")[0:2] for text in found] == [
        ["firmware/catalogs/box.yaml", "6"],
        ["hardware/box.yaml", "8"],
        ["hardware/box.yaml", "9"],
        ["releases/box-first.yaml", "7"],
    ]


def test_a_directory_without_profiles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="holds no profiles"):
        load_catalog(tmp_path / "absent")


def test_a_comment_or_a_description_does_not_change_a_release(tmp_path: Path) -> None:
    plain = load_catalog(write_catalog(tmp_path / "plain")).resolve_release("box-first", IMAGE)
    changed = {name: f"# a comment\n{text}" for name, text in FILES.items()}
    changed |= edited("bios/box-gpu.yaml", "for a GPU pool", "for GPU pools")
    changed["burnin/quick.yaml"] = (
        FILES["burnin/quick.yaml"].replace("90s", "1m30s").replace("seconds: 2", "seconds: 2.0")
    )
    other = load_catalog(write_catalog(tmp_path / "other", changed)).resolve_release("box-first", IMAGE)
    assert other.digest == plain.digest


@pytest.mark.parametrize(
    "changed",
    [
        edited("firmware/box-1.yaml", '"1.10"', '"1.9"'),
        edited("firmware/box-1.yaml", "newer: refuse", "newer: flash"),
        edited("firmware/catalogs/box.yaml", "bmc.bin", "another.bin"),
        edited("firmware/catalogs/box.yaml", "bmc_reset", "host_reset"),
        edited("bios/box-gpu.yaml", "Retries: 3", "Retries: 4"),
        edited("burnin/quick.yaml", "seconds: 2", "seconds: 3"),
        edited("hardware/box.yaml", "gpu_count: 8", "gpu_count: 4"),
    ],
)
def test_any_content_changes_a_release(tmp_path: Path, changed: dict[str, str]) -> None:
    plain = load_catalog(write_catalog(tmp_path / "plain")).resolve_release("box-first", IMAGE)
    other = load_catalog(write_catalog(tmp_path / "other", changed)).resolve_release("box-first", IMAGE)
    assert other.digest != plain.digest


def test_another_image_is_another_release(tmp_path: Path) -> None:
    catalog = load_catalog(write_catalog(tmp_path))
    other = catalog.resolve_release("box-first", "sha256:" + "cd" * 32)
    assert other.digest != catalog.resolve_release("box-first", IMAGE).digest
