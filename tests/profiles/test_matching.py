"""Which class a server belongs to: one answer, or a refusal that says for each class why not."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.catalog import Catalog
from profiles.loader import load_catalog
from profiles.matching import Found, Refusal, match
from profiles.models import HardwareClass
from tests.profiles.catalogs import FILES, write_catalog

FOUND = Found("Supermicro", "SYS-821GE-TNHR", ("NVIDIA H100 80GB HBM3",) * 8, "x86_64")


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    other = FILES["hardware/box.yaml"].replace("name: box", "name: other").replace("SYS-821GE*", "XE9680")
    return load_catalog(write_catalog(tmp_path, {"hardware/other.yaml": other}))


def name_of(answer: HardwareClass | Refusal) -> str:
    assert isinstance(answer, HardwareClass)
    return answer.name


def reasons_of(answer: HardwareClass | Refusal) -> dict[str, str]:
    assert isinstance(answer, Refusal)
    return dict(answer.reasons)


def test_a_server_of_a_known_class_matches(catalog: Catalog) -> None:
    assert name_of(match(catalog, FOUND)) == "box"


def test_case_and_spaces_do_not_matter(catalog: Catalog) -> None:
    """Vendors pad and change the case of their own names between firmware versions."""
    assert name_of(match(catalog, replace(FOUND, manufacturer=" SUPERMICRO ", model="sys-821ge-tnhr  "))) == "box"


@pytest.mark.parametrize("count", [0, 7])
def test_missing_gpus_do_not_hide_the_class(catalog: Catalog, count: int) -> None:
    """A dead GPU is a finding about a known server; a BMC shows none at all while the host is off."""
    assert name_of(match(catalog, replace(FOUND, gpu_models=FOUND.gpu_models[:count]))) == "box"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "SYS-420GP"}, 'model "SYS-420GP" is not SYS-821GE*'),
        ({"arch": "arm64"}, 'arch "arm64" is not x86_64'),
        ({"gpu_models": ("NVIDIA A100",)}, 'GPU "NVIDIA A100" is not *H100*'),
        ({"gpu_models": FOUND.gpu_models * 2}, "16 GPUs are more than 8"),
    ],
)
def test_a_refusal_says_for_each_class_why_not(catalog: Catalog, change: dict[str, object], reason: str) -> None:
    answer = match(catalog, replace(FOUND, **change))  # type: ignore[arg-type]  # the fields of Found
    assert reasons_of(answer)["box"] == reason
    assert set(reasons_of(answer)) == {"box", "other"}


def test_two_classes_that_fit_are_a_refusal(tmp_path: Path) -> None:
    twin = FILES["hardware/box.yaml"].replace("name: box", "name: twin")
    catalog = load_catalog(write_catalog(tmp_path, {"hardware/twin.yaml": twin}))
    assert set(reasons_of(match(catalog, FOUND))) == {"box", "twin"}
    assert "fits as well as others (box, twin)" in str(match(catalog, FOUND))


def test_an_empty_catalog_is_a_refusal() -> None:
    assert str(match(replace(CATALOG, hardware_classes={}), FOUND)).endswith("the catalog has no hardware classes")


TEXTS = st.sampled_from(["Supermicro", "SYS-821GE-TNHR", "XE9680", "NVIDIA H100", "x86_64", "", "[", "*"]) | st.text()


@given(st.builds(Found, TEXTS, TEXTS, st.lists(TEXTS, max_size=9).map(tuple), TEXTS))
def test_every_answer_is_a_class_or_has_reasons(found: Found) -> None:
    answer = match(CATALOG, found)
    if isinstance(answer, Refusal):
        assert set(dict(answer.reasons)) == {"box"}
        assert all(why for _, why in answer.reasons)
    else:
        assert (answer.name, found.arch) == ("box", "x86_64")


CATALOG = Catalog(
    hardware_classes={
        "box": HardwareClass.model_validate(
            {
                "name": "box",
                "description": "a server",
                "match": {
                    "manufacturer": ["Supermicro"],
                    "model": ["SYS-821GE*"],
                    "gpu_model": ["*H100*"],
                    "arch": "x86_64",
                },
                "gpu_count": 8,
                "nvlink_domain_size": 8,
                "factory_credential_hint": "tag",
            }
        )
    },
    bios_profiles={},
    firmware_bundles={},
    images={},
    burn_in_plans={},
    releases={},
)


def test_a_class_without_gpus_takes_no_server_that_has_some(tmp_path: Path) -> None:
    """Head nodes and virtual machines: no GPUs is a fact about the class, and a GPU there is a surprise."""
    without = FILES["hardware/box.yaml"].replace('gpu_model: ["*H100*"]', "gpu_model: []")
    changed = {"hardware/box.yaml": without.replace("gpu_count: 8", "gpu_count: 0")}
    catalog = load_catalog(write_catalog(tmp_path, changed))
    assert name_of(match(catalog, replace(FOUND, gpu_models=()))) == "box"
    refused = match(catalog, FOUND)
    assert isinstance(refused, Refusal)
    assert 'GPU "NVIDIA H100 80GB HBM3" is not there: it has none' in str(refused)
