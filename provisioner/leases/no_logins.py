"""For who only looks at BMCs: nothing is remembered, and no login is possible."""

from datetime import datetime
from typing import NoReturn

from provisioner.models.audit import AuditEntry

_WHY = "who only looks never logs in"


class NoLogins:
    """`LoginFailures` and `PinnedCertificates` that refuse everything. It is a mistake of ours to call any of it."""

    async def count(self, bmc: str, username: str) -> NoReturn:
        """Asked before each login."""
        raise AssertionError(f"{bmc}, {username}: {_WHY}")

    async def record(self, bmc: str, username: str, at: datetime) -> NoReturn:
        """Asked after a refused login."""
        raise AssertionError(f"{bmc}, {username}, {at}: {_WHY}")

    async def clear(self, bmc: str, username: str) -> NoReturn:
        """Asked after a login."""
        raise AssertionError(f"{bmc}, {username}: {_WHY}")

    async def pinned(self, bmc: str) -> NoReturn:
        """Asked before a session."""
        raise AssertionError(f"{bmc}: {_WHY}")

    async def pin(self, bmc: str, fingerprint: str) -> NoReturn:
        """Asked at the first session."""
        raise AssertionError(f"{bmc}, {fingerprint}: {_WHY}")

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> NoReturn:
        """Asked by people."""
        raise AssertionError(f"{bmc}, {audit}: {_WHY}")
