"""A way to BMCs for tests: memory instead of a database, real time made short."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from provisioner.leases.bmc_leases import BmcLeases
from provisioner.leases.limits import LeaseSettings
from provisioner.models.audit import AuditEntry
from provisioner.redfish.bmcs import RedfishBmcs, RedfishSettings
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import TlsMode, TlsPolicy
from provisioner.upload_limit import UploadLimit

IMPATIENT = Timeouts(connect_seconds=2.0, read_seconds=5.0, push_seconds=10.0)


class FastClock:
    """Waits take no time."""

    def now(self) -> datetime:
        """Real now."""
        return datetime.now(UTC)

    def __init__(self) -> None:
        """Nobody has waited yet."""
        self.asked: list[timedelta] = []

    def work(self, duration: timedelta) -> float:
        """As `wall`."""
        return self.wall(duration)

    def wall(self, duration: timedelta) -> float:
        """Nothing waits; what was asked for is kept in `asked`."""
        self.asked.append(duration)
        return 0.0

    def limit(self, duration: timedelta) -> float:
        """Limits stay as they are."""
        return duration.total_seconds()


class Failures:
    """`LoginFailures` in memory."""

    def __init__(self) -> None:
        """No failures."""
        self.counts: dict[tuple[str, str], int] = {}

    async def count(self, bmc: str, username: str) -> int:
        """In a row."""
        return self.counts.get((bmc, username), 0)

    async def record(self, bmc: str, username: str, at: datetime) -> int:
        """One more."""
        assert at.tzinfo is UTC
        self.counts[bmc, username] = self.counts.get((bmc, username), 0) + 1
        return self.counts[bmc, username]

    async def clear(self, bmc: str, username: str) -> None:
        """None any more."""
        self.counts.pop((bmc, username), None)


class Pins:
    """`PinnedCertificates` in memory."""

    def __init__(self) -> None:
        """Nothing pinned."""
        self.fingerprints: dict[str, str] = {}

    async def pinned(self, bmc: str) -> str | None:
        """What was pinned."""
        return self.fingerprints.get(bmc)

    async def pin(self, bmc: str, fingerprint: str) -> None:
        """The first one stays."""
        self.fingerprints.setdefault(bmc, fingerprint)

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> None:  # noqa: ARG002  as the protocol
        """A person says that the next one is right."""
        self.fingerprints.pop(bmc, None)


class Site:
    """What a site remembers, and the way to its BMCs."""

    def __init__(
        self,
        mode: TlsMode = TlsMode.PIN,
        *,
        timeouts: Timeouts = IMPATIENT,
        idle_session: timedelta = timedelta(minutes=2),
        leases: LeaseSettings | None = None,
        uploads: UploadLimit | None = None,
    ) -> None:
        """`mode` of TLS: PLAIN for the small servers of the tests."""
        self.uploads = uploads
        self.clock = FastClock()
        self.failures = Failures()
        self.pins = Pins()
        self.settings = RedfishSettings(TlsPolicy(mode), timeouts, idle_session=idle_session)
        self.lease_settings = leases
        self.bmcs = self.started()

    def started(self) -> RedfishBmcs:
        """A process that starts (anew): what is in memory only is gone."""
        self.bmcs = RedfishBmcs(self.leases(), self.pins, self.clock, settings=self.settings, uploads=self.uploads)
        return self.bmcs

    def leases(self) -> BmcLeases:
        """Leases that remember what the site remembers."""
        return BmcLeases(self.failures, self.clock, settings=self.lease_settings)


@asynccontextmanager
async def site_of(mode: TlsMode = TlsMode.PLAIN, *, uploads: UploadLimit | None = None) -> AsyncIterator[Site]:
    """A site that is closed at the end."""
    site = Site(mode, uploads=uploads)
    try:
        yield site
    finally:
        await site.bmcs.close()
