"""Whom we believe to be a BMC: pin on first use, a CA file, or anybody."""

import asyncio
import hashlib
import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import aiohttp

from provisioner.capabilities.login_failures import PinnedCertificates
from provisioner.errors import BmcUnreachable, CertificateChanged
from provisioner.models.node import BmcAddress


class TlsMode(StrEnum):
    """How the certificate of a BMC is judged."""

    PIN = "pin"
    """The one seen on first contact is the one (BMCs come with self-signed, expired, nameless certificates)."""
    CA = "ca"
    """Signed by a CA of `ca_file`, and valid for the address."""
    UNCHECKED = "unchecked"
    PLAIN = "plain"
    """No TLS at all: HTTP, for emulated BMCs."""


def authority(address: BmcAddress) -> str:
    """Host and port as in a URL: an IPv6 address needs brackets there."""
    return f"[{address.host}]:{address.port}" if ":" in address.host else str(address)


@dataclass(frozen=True, slots=True)
class TlsPolicy:
    """What a site has decided. `ca_file` belongs to `TlsMode.CA`."""

    mode: TlsMode = TlsMode.PIN
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """What both transports need to know about one BMC. `fingerprint`: SHA-256 of the pinned certificate."""

    context: ssl.SSLContext | None
    fingerprint: bytes | None = None
    for_aiohttp: ssl.SSLContext | aiohttp.Fingerprint | bool = field(default=False)

    @property
    def scheme(self) -> str:
        """`https`, or `http` without TLS."""
        return "https" if self.context else "http"

    def check(self, bmc: str, certificate: bytes | None) -> None:
        """Raise `CertificateChanged` unless `certificate` (DER) is the pinned one, if one is pinned."""
        if self.fingerprint and hashlib.sha256(certificate or b"").digest() != self.fingerprint:
            raise CertificateChanged(bmc, "shows another certificate than the one pinned on first use")


class Tls:
    """Makes a `Trust` for each BMC out of one policy and one shared context."""

    def __init__(self, policy: TlsPolicy, pins: PinnedCertificates, connect_seconds: float = 10.0) -> None:
        """`pins` remembers fingerprints across restarts; `connect_seconds` limits the first look at a certificate."""
        self._mode = policy.mode
        self._pins = pins
        self._connect_seconds = connect_seconds
        self._context = _context(policy)
        self._anybody = None if policy.mode is TlsMode.PLAIN else _unchecked()

    async def trust(self, address: BmcAddress) -> Trust:
        """What to expect of `address`; pins its certificate when it is seen for the first time.

        Raises `BmcUnreachable` when a first contact is needed and fails.
        """
        if self._mode is not TlsMode.PIN or self._context is None:
            return self._by_policy()
        bmc = str(address)
        pinned = await self._pins.pinned(bmc)
        if pinned is None:
            await self._pins.pin(bmc, await self._first_look(address))
            pinned = await self._pins.pinned(bmc) or ""
        fingerprint = bytes.fromhex(pinned)
        return Trust(self._context, fingerprint, aiohttp.Fingerprint(fingerprint))

    def for_a_look(self) -> Trust:
        """For a look that carries no secret: whoever answers is found, also a new BMC that no CA has signed yet."""
        return Trust(self._anybody)

    def _by_policy(self) -> Trust:
        """Trust without a pin."""
        if self._mode is TlsMode.CA and self._context:
            return Trust(self._context, for_aiohttp=self._context)
        return Trust(self._context)

    async def _first_look(self, address: BmcAddress) -> str:
        bmc = str(address)
        try:
            async with asyncio.timeout(self._connect_seconds):
                _, writer = await asyncio.open_connection(address.host, address.port, ssl=self._context)
        except (OSError, TimeoutError) as error:
            said = getattr(error, "strerror", "") or type(error).__name__
            raise BmcUnreachable(bmc, f"no connection: {said}") from error
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        return hashlib.sha256(certificate).hexdigest()


def _context(policy: TlsPolicy) -> ssl.SSLContext | None:
    if policy.mode is TlsMode.PLAIN:
        return None
    if policy.mode is TlsMode.CA:
        return ssl.create_default_context(cafile=str(policy.ca_file) if policy.ca_file else None)
    return _unchecked()


def _unchecked() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
