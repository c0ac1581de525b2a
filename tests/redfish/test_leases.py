"""One lease per BMC: who acts, how many ask at once."""

import asyncio
from datetime import timedelta

import pytest

from provisioner.errors import BmcUnreachable
from provisioner.leases.bmc_leases import BmcLeases
from provisioner.leases.limits import LeaseSettings
from provisioner.models.node import BmcAddress
from tests.redfish.site import Failures, FastClock

BMC = BmcAddress("127.0.0.1", 1)
OTHER = BmcAddress("127.0.0.2", 1)


class Shared:
    """`WriteLeases` in memory; `broken` is a database that does not answer."""

    def __init__(self) -> None:
        """Free."""
        self.holders: dict[str, str] = {}
        self.broken = False
        self.renewals = 0

    async def acquire(self, bmc: str, holder: str, seconds: float) -> bool:
        """Nothing expires here."""
        assert seconds > 0
        if self.broken:
            raise OSError("database gone")
        self.renewals += 1
        return self.holders.setdefault(bmc, holder) == holder

    async def release(self, bmc: str, holder: str) -> None:
        """If it is still its own."""
        if self.holders.get(bmc) == holder:
            del self.holders[bmc]


def leases(shared: Shared | None = None, **settings: object) -> BmcLeases:
    """Leases of one process."""
    return BmcLeases(Failures(), FastClock(), shared=shared, settings=LeaseSettings(**settings))  # type: ignore[arg-type]


async def test_one_acts_at_a_time_and_other_bmcs_do_not_wait() -> None:
    """Two operations on one BMC are serialised; ten thousand BMCs are not."""
    site = leases(patience=timedelta(milliseconds=30))
    async with site.hold(BMC), site.hold(OTHER):
        with pytest.raises(BmcUnreachable, match="somebody else"):
            async with site.hold(BMC):
                pass
    async with site.hold(BMC):
        pass


@pytest.mark.parametrize(("per_bmc", "per_site", "most"), [(2, 1000, 2), (5, 3, 3)])
async def test_requests_in_flight_are_bounded(per_bmc: int, per_site: int, most: int) -> None:
    """BMCs answer one request at a time inside and lose connections when many arrive."""
    site = leases(requests_per_bmc=per_bmc, requests_per_site=per_site)
    flying = peak = 0

    async def ask(address: BmcAddress) -> None:
        nonlocal flying, peak
        async with site.look(address):
            flying += 1
            peak = max(peak, flying)
            await asyncio.sleep(0.001)
            flying -= 1

    async with site.hold(BMC):  # known from here on
        await asyncio.gather(*(ask(BMC) for _ in range(20)))
    assert peak == most


async def test_requests_keep_their_distance_when_asked_to() -> None:
    """For BMCs that fall over when asked quickly."""
    site = leases(spacing=timedelta(milliseconds=20))
    started: list[float] = []
    loop = asyncio.get_running_loop()
    async with site.hold(BMC) as lease:
        began = loop.time()

        async def ask() -> None:
            async with lease.request():
                started.append(loop.time() - began)

        await asyncio.gather(*(ask() for _ in range(4)))
    assert all(seconds >= 0.019 * number for number, seconds in enumerate(started)), "a slow machine is only later"


async def test_two_processes_take_turns() -> None:
    """On PostgreSQL many workers share the BMCs."""
    shared = Shared()
    one, two = leases(shared), leases(shared, patience=timedelta(milliseconds=30))
    async with one.hold(BMC):
        with pytest.raises(BmcUnreachable, match="another process"):
            async with two.hold(BMC):
                pass
    async with two.hold(BMC):
        assert len(shared.holders) == 1
    assert shared.holders == {}


async def test_a_lease_is_renewed_while_it_is_held() -> None:
    """A flash takes longer than a lease lasts."""
    shared = Shared()
    site = leases(shared, shared_for=timedelta(milliseconds=30))
    async with site.hold(BMC) as lease:
        await asyncio.sleep(0.1)
        async with lease.request():
            pass
    assert shared.renewals >= 3


@pytest.mark.parametrize("how", ["taken", "broken"])
async def test_who_has_lost_the_lease_sends_nothing_more(how: str) -> None:
    """The process slept, or the database went: somebody else may be acting now."""
    shared = Shared()
    site = leases(shared, shared_for=timedelta(milliseconds=30))
    async with site.hold(BMC) as lease:
        if how == "taken":
            shared.holders[str(BMC)] = "another one"
        shared.broken = how == "broken"
        await asyncio.sleep(0.1)
        with pytest.raises(BmcUnreachable, match="lease was lost"):
            async with lease.request():
                pass
        shared.broken = False
