"""Does a driver go with these GPUs, toolkits and components? The sources are those of `profiles/compat/nvidia.yaml`."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import profiles.compat
from profiles.compat.answers import Outcome, Severity
from profiles.compat.asked import UnknownWordsError
from profiles.compat.kinds import MemoryMode, ModuleFlavour, Use
from tests.profiles.setups import names, verdict

OPEN, PROPRIETARY = ModuleFlavour.OPEN, ModuleFlavour.PROPRIETARY
REFUSAL, UNKNOWN, FINDING, PASS = Severity

# CUDA Compatibility guide, release notes and driver installation guide: (question, refusals, what lets it through).
VECTORS: list[tuple[dict[str, Any], set[str], str]] = [
    ({"driver": "525.147.05", "gpus": "8.0", "cuda": "12.4"}, set(), "toolkit-by-minor-version"),
    ({"driver": "520.61.05", "gpus": "8.0", "cuda": "12.4"}, {"needs-forward-compatibility"}, ""),
    ({"driver": "570.211.01", "gpus": "9.0", "cuda": "13.0"}, {"needs-forward-compatibility"}, ""),
    ({"driver": "580.95.05", "gpus": "7.0", "cuda": "13.0"}, {"toolkit-dropped-architecture"}, ""),
    ({"driver": "580.95.05", "gpus": "7.0", "cuda": "12.9"}, set(), "toolkit-supported"),
    ({"driver": "590.48.01", "gpus": "6.1", "cuda": "12.9"}, {"driver-dropped-architecture"}, ""),
    ({"driver": "595.58.03", "gpus": "9.0", "cuda": "11.8"}, set(), "toolkit-supported"),
    ({"driver": "580.95.05", "gpus": "9.0", "cuda": "13.2", "jit_ptx": True}, {"ptx-newer-than-driver"}, ""),
    ({"driver": "580.95.05", "gpus": "Blackwell", "modules": PROPRIETARY}, {"open-modules-required"}, ""),
    ({"driver": "580.95.05", "gpus": "Volta", "modules": OPEN}, {"proprietary-modules-required"}, ""),
    ({"driver": "620.70.06", "gpus": "Hopper", "modules": PROPRIETARY}, {"branch-has-open-only"}, ""),
]

# Everything that a rule can say, in a question that makes it say so.
CASES: list[tuple[str, Severity, dict[str, Any]]] = [
    ("branch-never-deployed", REFUSAL, {"driver": "455.32", "gpus": "A100"}),
    ("branch-for-early-access", FINDING, {"driver": "590.48.01"}),
    ("branch-for-pools", PASS, {"driver": "595.58.03"}),
    ("end-of-life-unknown", UNKNOWN, {"driver": "615.71.09"}),
    ("past-end-of-life", FINDING, {"driver": "570.211.01"}),
    ("past-end-of-life", FINDING, {"driver": "550.163.01"}),
    ("supported", PASS, {"driver": "580.95.05"}),
    ("older-than-first-public", FINDING, {"driver": "580.65.05"}),
    ("newer-than-known", PASS, {"driver": "620.71.01"}),
    ("newest-of-branch", PASS, {"driver": "580.95.05"}),
    ("oldest-kernel-unknown", UNKNOWN, {"driver": "620.70.06", "kernel": "6.12.48"}),
    ("kernel-too-old", REFUSAL, {"driver": "580.95.05", "kernel": "3.10.0-1160.el7.x86_64"}),
    ("kernel-new-enough", PASS, {"driver": "580.95.05", "kernel": "6.12.6+bpo-amd64"}),
    ("driver-too-old-for-architecture", REFUSAL, {"driver": "550.163.01", "gpus": "B200"}),
    ("first-branch-unknown", UNKNOWN, {"driver": "470.239.06", "gpus": "H100"}),
    ("driver-drives-architecture", PASS, {"driver": "580.95.05", "gpus": "V100"}),
    ("toolkit-older-than-architecture", FINDING, {"driver": "580.95.05", "cuda": "11.4"}),
    ("toolkit-compiles-for-architecture", PASS, {"driver": "580.95.05", "cuda": "11.8"}),
    ("toolkit-is-preview", REFUSAL, {"driver": "620.70.06", "cuda": "13.4.0"}),
    ("toolkit-older-than-driver", PASS, {"driver": "620.70.06", "cuda": "13.4"}),
    ("toolkit-floor-unknown", UNKNOWN, {"driver": "620.70.06", "cuda": "13.5"}),
    ("toolkit-floor-unknown", UNKNOWN, {"driver": "615.71.09", "cuda": "13.4.1"}),
    ("ptx-compiles", PASS, {"driver": "595.58.03", "cuda": "13.2", "jit_ptx": True}),
    ("forward-compatibility", PASS, {"driver": "570.211.01", "cuda": "13.0", "forward_package": "13.0"}),
    ("ptx-compiles", PASS, {"driver": "570.211.01", "cuda": "13.2", "forward_package": "13.2", "jit_ptx": True}),
    (
        "ptx-newer-than-driver",
        REFUSAL,
        {"driver": "570.9.9", "cuda": "13.2", "forward_package": "13.0", "jit_ptx": True},
    ),
    ("forward-package-not-needed", FINDING, {"driver": "580.95.05", "cuda": "13.0", "forward_package": "13.0"}),
    ("forward-package-of-another-major", REFUSAL, {"driver": "535.309.01", "cuda": "13.0", "forward_package": "12.9"}),
    ("forward-package-older-than-driver", REFUSAL, {"driver": "595.58.03", "cuda": "13.0", "forward_package": "13.0"}),
    ("forward-pair-not-listed", REFUSAL, {"driver": "550.163.01", "cuda": "13.0", "forward_package": "13.0"}),
    (
        "forward-not-on-this-gpu",
        REFUSAL,
        {"driver": "570.211.01", "gpus": "GeForce RTX 4090", "cuda": "13.0", "forward_package": "13.0"},
    ),
    (
        "forward-on-this-gpu-unknown",
        UNKNOWN,
        {"driver": "570.211.01", "gpus": "RTX A6000", "cuda": "13.0", "forward_package": "13.0"},
    ),
    ("branch-modules-unknown", UNKNOWN, {"driver": "610.57.04"}),
    ("branch-has-no-open-modules", REFUSAL, {"driver": "470.239.06", "gpus": "A100", "modules": OPEN}),
    ("branch-has-no-open-modules", REFUSAL, {"driver": "470.239.06", "gpus": "GH200"}),
    ("branch-has-open-only", REFUSAL, {"driver": "620.70.06", "gpus": "V100"}),
    ("architecture-ambiguous", UNKNOWN, {"driver": "580.95.05", "gpus": "9.0", "modules": PROPRIETARY}),
    ("no-modules-for-all-gpus", REFUSAL, {"driver": "580.95.05", "gpus": "V100,B200"}),
    ("modules-drive-all-gpus", PASS, {"driver": "580.95.05", "gpus": "V100,H100"}),
    ("use-needs-open-modules", REFUSAL, {"driver": "580.95.05", "gpus": "V100", "uses": frozenset({Use.DMA_BUF})}),
    ("use-has-open-modules", PASS, {"driver": "580.95.05", "uses": frozenset({Use.GPUDIRECT_STORAGE})}),
    ("modules-in-use-unknown", UNKNOWN, {"driver": "610.57.04", "uses": frozenset({Use.DMA_BUF})}),
    ("modules-in-use-unknown", UNKNOWN, {"driver": "610.57.04", "gsp_firmware": False}),
    ("gsp-off-with-open-modules", REFUSAL, {"driver": "580.95.05", "gsp_firmware": False}),
    ("gsp-off", PASS, {"driver": "580.95.05", "gsp_firmware": False, "modules": PROPRIETARY}),
    ("component-version-differs", REFUSAL, {"driver": "580.95.05", "components": "libnvidia-nscq=580.126.20"}),
    ("component-version-should-be-equal", FINDING, {"driver": "580.95.05", "components": "nvidia-modprobe=580.65.06"}),
    ("component-version-equal", PASS, {"driver": "580.95.05", "components": "nvidia-imex=580.95.05-1ubuntu1"}),
    ("component-of-same-branch", PASS, {"driver": "580.95.05", "components": "nvlsm=580.65.06"}),
    ("component-pairing-unknown", UNKNOWN, {"driver": "580.95.05", "components": "nvlsm=2025.06.11-1"}),
    (
        "component-named",
        PASS,
        {"driver": "580.1.2", "platform": "hgx-h100", "components": "nvidia-fabricmanager=580.1.2"},
    ),
    ("component-missing", REFUSAL, {"driver": "580.95.05", "platform": "hgx-h100"}),
    ("component-missing", REFUSAL, {"driver": "580.95.05", "uses": frozenset({Use.GPUDIRECT_STORAGE})}),
    (
        "component-not-needed",
        FINDING,
        {"driver": "580.95.05", "platform": "pcie", "components": "nvidia-fabricmanager=580.95.05"},
    ),
    ("gpu-not-on-platform", REFUSAL, {"driver": "580.95.05", "gpus": "V100", "platform": "hgx-b200"}),
    ("gpu-not-on-platform", REFUSAL, {"driver": "580.95.05", "gpus": "8.0", "platform": "hgx-h100"}),
    ("memory-mode-unset", REFUSAL, {"driver": "580.95.05", "gpus": "GB200"}),
    ("memory-mode-unknown", UNKNOWN, {"driver": "580.95.05", "gpus": "10.0"}),
    ("memory-mode-explicit", PASS, {"driver": "580.95.05", "gpus": "GB200", "memory_mode": MemoryMode.NUMA}),
    ("memory-mode-without-effect", FINDING, {"driver": "580.95.05", "memory_mode": MemoryMode.DRIVER}),
    ("memory-mode-without-effect", FINDING, {"driver": "575.64.05", "gpus": "GH200", "memory_mode": MemoryMode.NUMA}),
    ("memory-mode-not-available", REFUSAL, {"driver": "575.64.05", "gpus": "GH200", "memory_mode": MemoryMode.DRIVER}),
    ("memory-mode-not-there-yet", PASS, {"driver": "575.64.05", "gpus": "GH200"}),
    (
        "memory-mode-excludes-use",
        REFUSAL,
        {"driver": "580.65.06", "gpus": "GH200", "memory_mode": MemoryMode.DRIVER, "uses": frozenset({Use.MIG})},
    ),
    (
        "memory-mode-with-use-unknown",
        UNKNOWN,
        {"driver": "595.58.03", "gpus": "GH200", "memory_mode": MemoryMode.DRIVER, "uses": frozenset({Use.MIG})},
    ),
    ("dcgm-unknown", UNKNOWN, {"driver": "580.95.05", "components": "dcgm=5.0.0"}),
    ("driver-too-old-for-dcgm", REFUSAL, {"driver": "450.51.05", "gpus": "A100", "components": "dcgm=3.3.9"}),
    ("dcgm-takes-driver", PASS, {"driver": "580.95.05", "components": "dcgm=4.4.1"}),
    ("nvidia-fs-too-old", REFUSAL, {"driver": "580.95.05", "components": "nvidia-fs=2.9.5"}),
    ("nvidia-fs-new-enough", PASS, {"driver": "580.95.05", "components": "nvidia-fs=2.17.5"}),
    ("peermem-not-in-driver", REFUSAL, {"driver": "460.27.03", "gpus": "A100", "uses": frozenset({Use.PEERMEM})}),
    ("peermem-in-driver", PASS, {"driver": "470.239.06", "gpus": "A100", "uses": frozenset({Use.PEERMEM})}),
    ("kernel-not-named", UNKNOWN, {"driver": "580.95.05", "uses": frozenset({Use.DMA_BUF})}),
    (
        "kernel-too-old-for-dma-buf",
        REFUSAL,
        {"driver": "580.95.05", "kernel": "5.4.0", "uses": frozenset({Use.DMA_BUF})},
    ),
    ("kernel-has-dma-buf", PASS, {"driver": "580.95.05", "kernel": "5.15.0", "uses": frozenset({Use.DMA_BUF})}),
]


@pytest.mark.parametrize(("question", "refusals", "passes"), VECTORS, ids=str)
def test_the_published_rules_by_example(question: dict[str, Any], refusals: set[str], passes: str) -> None:
    judged = verdict(**question)
    assert names(judged, REFUSAL) == refusals
    assert not passes or passes in names(judged, PASS)


@pytest.mark.parametrize(
    ("name", "severity", "question"), CASES, ids=[f"{one[0]}-{at}" for at, one in enumerate(CASES)]
)
def test_a_rule_says_so(name: str, severity: Severity, question: dict[str, Any]) -> None:
    said = [one for one in verdict(**question).said if one.name == name]
    assert said
    assert {one.severity for one in said} == {severity}
    assert all(one.sources and one.text for one in said)


def test_everything_that_a_rule_can_say_has_an_example() -> None:
    sources = [path.read_text() for path in Path(profiles.compat.__path__[0]).glob("*.py")]
    written = {name for text in sources for name in re.findall(r'(?:refusal|unknown|finding|fine)\(\s*"([^"]+)"', text)}
    shown = {name for name, _, _ in CASES} | {passes for *_, passes in VECTORS}
    assert len(written) > 50
    assert written <= shown.union(*(refusals for _, refusals, _ in VECTORS))


def test_the_vendors_own_bundle_is_ok() -> None:
    """DGX GB300 1.0.6: driver and IMEX 580.126.20 with CUDA 13.0.2."""
    judged = verdict(
        "580.126.20",
        "GB300",
        cuda="13.0.2",
        platform="gb300-nvl72",
        components="nvidia-imex=580.126.20",
        memory_mode=MemoryMode.NUMA,
    )
    assert judged.outcome is Outcome.OK
    assert judged.reasons == ()


def test_every_reason_is_told_at_once() -> None:
    judged = verdict(
        "570.211.01", "V100,B200", cuda="13.0,13.4.0", platform="hgx-b200", components="nvidia-fabricmanager=570.195.03"
    )
    assert judged.outcome is Outcome.REFUSED
    assert names(judged, REFUSAL) == {
        "component-missing",
        "component-version-differs",
        "gpu-not-on-platform",
        "needs-forward-compatibility",
        "no-modules-for-all-gpus",
        "toolkit-dropped-architecture",
        "toolkit-is-preview",
    }
    assert names(judged, FINDING) == {"past-end-of-life"}


def test_what_is_not_established_is_not_ok() -> None:
    """No document gives the floor of CUDA 13.5."""
    assert verdict("620.70.06", "H100").outcome is Outcome.OK
    assert verdict("620.70.06", "H100", cuda="13.5").outcome is Outcome.UNKNOWN


def test_a_branch_ends_with_the_last_day_of_its_month() -> None:
    assert verdict("595.58.03", on=date(2027, 3, 31)).outcome is Outcome.OK
    assert verdict("595.58.03", on=date(2027, 4, 1)).outcome is Outcome.FINDINGS


def test_versions_are_numbers() -> None:
    """CUDA 12.0.1 needs 525.85.12: 525.105.17 is newer, 525.60.13 is older."""
    assert "toolkit-supported" in names(verdict("525.105.17", "A100", cuda="12.0.1"), PASS)
    assert "toolkit-by-minor-version" in names(verdict("525.60.13", "A100", cuda="12.0.1"), PASS)


def test_the_default_of_the_memory_mode_is_that_of_the_branch() -> None:
    def text(driver: str) -> str:
        return next(one.text for one in verdict(driver, "GB200").said if one.name == "memory-mode-unset")

    assert "595.58.03 takes numa by itself" in text("595.58.03")
    assert "615.71.09 takes driver by itself" in text("615.71.09")


def test_the_platform_says_whether_a_capability_is_on_grace() -> None:
    assert "memory-mode-unset" in names(verdict("580.95.05", "10.0", platform="gb200-nvl72"), REFUSAL)
    assert not names(verdict("580.95.05", "10.0", platform="hgx-b200"), UNKNOWN)


def test_a_finding_can_be_waived_by_name_and_a_refusal_cannot() -> None:
    """Debian 12 has 535.309.01 only, which is past its end."""
    waived = verdict("535.309.01", "A100", waived=frozenset({"past-end-of-life"}))
    assert waived.outcome is Outcome.OK
    assert next(one.text for one in waived.said if one.name == "past-end-of-life").endswith("(waived)")
    refused = verdict("620.70.06", "V100", waived=frozenset({"driver-dropped-architecture", "branch-has-open-only"}))
    assert names(refused, REFUSAL) == {"driver-dropped-architecture", "branch-has-open-only"}


@pytest.mark.parametrize("word", ["h100", "NVIDIA H100", "Hopper", "9.0", "sm_90", "SM_90"])
def test_a_gpu_goes_by_name_architecture_or_capability(word: str) -> None:
    assert verdict("580.95.05", word, cuda="13.0").outcome is not Outcome.REFUSED
    assert "toolkit-dropped-architecture" not in names(verdict("580.95.05", word, cuda="13.0"), REFUSAL)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ({"driver": "600.10.01"}, 'driver "600.10.01" is of no known branch; known: R418'),
        ({"driver": "580"}, 'driver "580" is not a version; write it whole: 580.178.04 is the newest known of R580'),
        ({"driver": "latest"}, 'driver "latest" is of no known branch'),
        ({"driver": "580.95.05", "gpus": "H10"}, 'GPU "H10" is not known; did you mean "H100"?'),
        ({"driver": "580.95.05", "gpus": "hoper"}, 'GPU "hoper" is not known; did you mean "Hopper"?'),
        ({"driver": "580.95.05", "gpus": "8.7"}, 'GPU "8.7" is not known'),
        ({"driver": "580.95.05", "cuda": "12.7"}, 'CUDA toolkit "12.7" is not known; known: 11.0, 11.1'),
        ({"driver": "580.95.05", "cuda": "13"}, 'CUDA toolkit "13" is not known'),
        ({"driver": "580.95.05", "platform": "hgx-h10"}, 'platform "hgx-h10" is not known; did you mean "hgx-h100"?'),
        ({"driver": "580.95.05", "components": "nvslm=1.2"}, 'component "nvslm" is not known; did you mean "nvlsm"?'),
        ({"driver": "580.95.05", "components": "nvlsm=new"}, 'version "new" of nvlsm is not numbers between dots'),
        ({"driver": "580.95.05", "kernel": "six"}, 'kernel "six" is not a version'),
        ({"driver": "580.95.05", "forward_package": "13"}, '"13" names no compatibility package'),
    ],
)
def test_unknown_words_are_told_with_the_nearest(question: dict[str, Any], told: str) -> None:
    with pytest.raises(UnknownWordsError) as caught:
        verdict(**question)
    assert str(caught.value).startswith(told)


def test_all_unknown_words_are_told_at_once() -> None:
    with pytest.raises(UnknownWordsError) as caught:
        verdict("1.2", "V101,B201", cuda="99.9", platform="moon")
    fields = [problem.at[0] for problem in caught.value.problems]
    assert fields == ["driver", "gpus", "gpus", "cuda", "platform"]
