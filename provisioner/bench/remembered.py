"""What a site's database remembers of its BMCs, without the database."""

from datetime import datetime

from provisioner.models.audit import AuditEntry


class Remembered:
    """`LoginFailures` and `PinnedCertificates` in memory. `fingerprints`: BMC -> SHA-256 of its certificate."""

    def __init__(self, fingerprints: dict[str, str] | None = None) -> None:
        """No login has failed."""
        self.fingerprints = dict(fingerprints or {})
        self._failures: dict[tuple[str, str], int] = {}

    async def count(self, bmc: str, username: str) -> int:
        """Refused logins in a row."""
        return self._failures.get((bmc, username), 0)

    async def record(self, bmc: str, username: str, at: datetime) -> int:  # noqa: ARG002  (nobody asks when)
        """One more."""
        self._failures[bmc, username] = self._failures.get((bmc, username), 0) + 1
        return self._failures[bmc, username]

    async def clear(self, bmc: str, username: str) -> None:
        """None any more."""
        self._failures.pop((bmc, username), None)

    async def pinned(self, bmc: str) -> str | None:
        """What was pinned."""
        return self.fingerprints.get(bmc)

    async def pin(self, bmc: str, fingerprint: str) -> None:
        """The first one stays."""
        self.fingerprints.setdefault(bmc, fingerprint)

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> None:  # noqa: ARG002  as the protocol
        """The next one is pinned."""
        self.fingerprints.pop(bmc, None)
