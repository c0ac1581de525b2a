"""What is read of a BMC before a host is told to boot."""

from typing import Any

import pytest

from tests.redfish.small_server import SYSTEM, small
from tests.redfish.tree_server import TreeBmc, opened, recorded

SECURE_BOOT = f"{SYSTEM}/SecureBoot"


@pytest.mark.parametrize(
    ("said", "refuses_unsigned"),
    [
        ({"SecureBootEnable": True, "SecureBootCurrentBoot": "Disabled"}, True),
        ({"SecureBootEnable": False, "SecureBootCurrentBoot": "Enabled"}, False),
        ({"SecureBootCurrentBoot": "Enabled"}, True),
        ({"SecureBootCurrentBoot": "Disabled", "SecureBootEnable": None}, False),
        ({"SecureBootMode": "UserMode"}, None),
        ({"SecureBootEnable": "yes"}, None),
    ],
)
async def test_secure_boot_is_as_it_will_be_at_the_next_start(
    said: dict[str, Any], refuses_unsigned: bool | None
) -> None:
    """DSP0268, SecureBoot: SecureBootEnable takes effect at the next boot; SecureBootCurrentBoot is of this one."""
    documents = small()
    documents[SYSTEM.lower()]["SecureBoot"] = {"@odata.id": SECURE_BOOT}
    documents[SECURE_BOOT.lower()] = {"@odata.id": SECURE_BOOT, "Id": "SecureBoot", **said}
    async with opened(TreeBmc(documents)) as one:
        assert await one.secure_boot() is refuses_unsigned


@pytest.mark.parametrize("dangling", [False, True])
async def test_a_bmc_without_the_resource_cannot_tell(dangling: bool) -> None:
    documents = small()
    if dangling:
        documents[SYSTEM.lower()]["SecureBoot"] = {"@odata.id": SECURE_BOOT}
    async with opened(TreeBmc(documents)) as one:
        assert await one.secure_boot() is None


async def test_secure_boot_of_a_recorded_server() -> None:
    async with opened(TreeBmc(recorded("nvidia-dgx-h100"))) as one:
        assert await one.secure_boot() is False


@pytest.mark.parametrize(("said", "uri"), [("None", None), ("", None), (None, None), ("http://site/x.efi",) * 2])
async def test_the_text_none_is_no_address(said: str | None, uri: str | None) -> None:
    """sushy-tools says so while nothing is set."""
    documents = small()
    documents[SYSTEM.lower()]["Boot"]["HttpBootUri"] = said
    async with opened(TreeBmc(documents)) as one:
        assert await one.boot_override() == ("Disabled", "None", uri)
