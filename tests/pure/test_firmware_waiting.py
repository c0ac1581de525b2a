"""Whether the new image of a part waits in it: said by its other slot, or by an entry of its own; else nobody knows."""

from dataclasses import replace

import pytest

from provisioner.firmware.waiting import Image, image_of
from provisioner.models.inventory import FirmwareComponent
from tests.pure.samples import bundle, part

BUNDLE = bundle(bios=("BIOS", "2.5", "host_reset"), gpu=("GPU_*", "97.0", "power_cycle"))
OLD = part("BIOS", "1.4")


@pytest.mark.parametrize(
    ("others", "image"),
    [
        ((), Image.UNSAID),
        ((part("Staging_BIOS", "2.5"),), Image.THERE),
        ((part("Staging_BIOS", "Not Present"),), Image.UNSAID),
        ((part("Backup_BIOS", "2.5"),), Image.UNSAID),  # going back to what ran before: that is no proof
        ((part("Golden_BIOS", "2.5"), part("BIOS-Pending", " 2.5 ")), Image.THERE),
        ((part("Staging_BMC", "2.5"),), Image.UNSAID),
    ],
)
def test_an_entry_of_its_own_says_it(others: tuple[FirmwareComponent, ...], image: Image) -> None:
    """Supermicro has Staging_BIOS, Lenovo BMC-Primary-Pending; most say nothing."""
    assert image_of(BUNDLE, "bios", "2.5", (OLD, *others)) is image


@pytest.mark.parametrize(
    ("slots", "image"),
    [
        (("97.0", "97.0"), Image.THERE),
        (("97.0", None), Image.THERE),
        (("97.0", "96.0"), Image.GONE),  # one of them has to be written again: no cycle does that
        (("96.0", None), Image.GONE),
        ((None, None), Image.UNSAID),
    ],
)
def test_the_other_slot_says_it(slots: tuple[str | None, str | None], image: Image) -> None:
    """NVIDIA shows both slots of what a root of trust guards."""
    inventory = [replace(part(f"GPU_{n}", "96.0"), other_slot=slot) for n, slot in enumerate(slots)]
    assert image_of(BUNDLE, "gpu", "97.0", inventory) is image


def test_what_runs_the_version_is_not_asked() -> None:
    """Its other slot holds what ran before."""
    done = replace(part("GPU_0", "97.0"), other_slot="96.0")
    left = replace(part("GPU_1", "96.0"), other_slot="97.0")
    assert image_of(BUNDLE, "gpu", "97.0", (done, left)) is Image.THERE
    assert image_of(BUNDLE, "gpu", "97.0", (done,)) is Image.UNSAID
    assert image_of(BUNDLE, "gpu", "97.0", (done, left), "GPU_0") is Image.UNSAID
    assert image_of(BUNDLE, "nic", "1.0", (done, left)) is Image.UNSAID
