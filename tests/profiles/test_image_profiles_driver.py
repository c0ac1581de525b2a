"""Does the driver that a profile names fit its GPUs, its platforms, its kernel and its programs?"""

from datetime import date
from pathlib import Path

import pytest

from profiles.compat.answers import Severity
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.driver_check import check_driver
from profiles.loader import SHIPPED, load_catalog
from tests.profiles.image_files import gpu
from tests.profiles.package_files import DRIVER

DAY = date(2026, 11, 30)
FACTS = load_facts()
IMAGES_SHIPPED = [one for one in load_catalog(SHIPPED).images.values() if isinstance(one, DebianImage)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[hgx-h100]", "[hgx-h1000]", ("target.platforms", "word-unknown")),
        ("[H100]", "[H100, B200]", ("target.platforms", "gpu-not-on-platform")),
        ("[hgx-h100]", "[gb200-nvl72]", ("target.platforms", "gpu-not-on-platform")),
        ("memory_mode: not_applicable", "memory_mode: driver", ("gpu.memory_mode", "memory-mode-without-effect")),
        (
            "  packages:",
            "  module_params: {NVreg_EnableGpuFirmware: '0'}\n  packages:",
            ("gpu.module_params", "gsp-off-with-open-modules"),
        ),
        (
            "  packages:",
            "  cuda: {install: none, versions: ['13.4.0']}\n  packages:",
            ("gpu.cuda.versions", "toolkit-is-preview"),
        ),
        ("  packages:", "  fabric_manager: absent\n  packages:", ("target.platforms", "component-missing")),
    ],
)
def test_the_driver_is_held_against_what_is_known(tmp_path: Path, old: str, new: str, told: tuple[str, str]) -> None:
    found = check_driver(gpu(tmp_path, (old, new)), FACTS, DAY, {})
    assert told in {(".".join(map(str, one.field)), one.name) for one in found}


def test_a_v100_under_r620_is_refused_with_every_reason(tmp_path: Path) -> None:
    """Data Center Drivers, 620 edition: R580 is the last for Volta; the 620 guide lists open modules only."""
    image = gpu(tmp_path, ("[H100]", "[V100]"), ("[hgx-h100]", "[pcie]"), ('"580"', '"620"'), (DRIVER, "620.70.06"))
    found = {one.name: one for one in check_driver(image, FACTS, DAY, {})}
    assert {"driver-dropped-architecture", "proprietary-modules-required"} <= found.keys()
    assert all(one.sources for one in found.values())
    assert found["driver-dropped-architecture"].severity is Severity.REFUSAL


def test_a_grace_tray_without_a_memory_mode_is_refused(tmp_path: Path) -> None:
    """HPC SDK 26.11: the default flips from NUMA to CDMM at R615."""
    tray = (("[H100]", "[GB200]"), ("[hgx-h100]", "[gb200-nvl72]"), ("fabric_manager", "imex"))
    assert [one.name for one in check_driver(gpu(tmp_path, *tray), FACTS, DAY, {})] == ["memory-mode-unset"]
    settled = gpu(tmp_path, *tray, ("not_applicable", "numa"))
    assert check_driver(settled, FACTS, DAY, {}) == ()


@pytest.mark.parametrize("image", IMAGES_SHIPPED, ids=lambda one: one.name)
def test_the_driver_of_every_shipped_image_fits(image: DebianImage) -> None:
    assert check_driver(image, FACTS, DAY, {}) == ()
