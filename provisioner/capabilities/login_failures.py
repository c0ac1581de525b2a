"""The memory of failed logins; it must outlive the process, or a crash loop would lock every account."""

from datetime import datetime
from typing import Protocol

from provisioner.models.audit import AuditEntry


class LoginFailures(Protocol):
    """Failed logins per BMC and account, since the last success."""

    async def count(self, bmc: str, username: str) -> int:
        """How many logins in a row the BMC has refused."""
        ...

    async def record(self, bmc: str, username: str, at: datetime) -> int:
        """One more refusal; the new count."""
        ...

    async def clear(self, bmc: str, username: str) -> None:
        """A login worked, or a person says that the password is right now."""
        ...


class PinnedCertificates(Protocol):
    """SHA-256 fingerprints of the certificates seen on first use."""

    async def pinned(self, bmc: str) -> str | None:
        """The fingerprint (hex) that the BMC showed first; None before the first contact."""
        ...

    async def pin(self, bmc: str, fingerprint: str) -> None:
        """Remember it. A fingerprint that is already there stays."""
        ...

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> None:
        """A person trusts the BMC's new certificate: the next one shown is pinned. `audit` in the same transaction."""
        ...


class WriteLeases(Protocol):
    """Write exclusion per BMC among processes."""

    async def acquire(self, bmc: str, holder: str, seconds: float) -> bool:
        """True when `holder` has it now, for `seconds`; taking it again extends it."""
        ...

    async def release(self, bmc: str, holder: str) -> None:
        """Give it back, if it is still `holder`'s."""
        ...
