"""BMCs show self-signed certificates; the first one seen is the one."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from provisioner.errors import BmcUnreachable, CertificateChanged
from provisioner.models.node import BmcAddress
from provisioner.redfish.bmcs import RedfishBmcs, RedfishSettings
from provisioner.redfish.tls import TlsMode, TlsPolicy
from tests.redfish.raw_server import RawBmc
from tests.redfish.site import Site
from tests.redfish.tree_server import CREDENTIALS

RESET = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"


def certificate(path: Path) -> ssl.SSLContext:
    """A server with a new self-signed certificate, long expired as on many a BMC."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bmc")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(dt.datetime(2010, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2012, 1, 1, tzinfo=dt.UTC))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(secret + made.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


@asynccontextmanager
async def serving_tls(bmc: RawBmc, context: ssl.SSLContext, port: int = 0) -> AsyncIterator[BmcAddress]:
    """The BMC over TLS; `port` to come back where another one was."""
    server = await asyncio.start_server(bmc.handle, "127.0.0.1", port, ssl=context, reuse_address=True)
    host, port = server.sockets[0].getsockname()
    try:
        yield BmcAddress(host, port)
    finally:
        server.close()
        for writer in bmc.written:
            writer.transport.abort()


async def test_another_certificate_is_refused_before_a_password_is_sent(tmp_path: Path) -> None:
    """A replaced board, or somebody in between: a person must look. It stays refused after a restart."""
    bmc, other = RawBmc(), RawBmc()
    site = Site(TlsMode.PIN)
    async with serving_tls(bmc, certificate(tmp_path / "first.pem")) as address:
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            assert await opened.power() == "On"
            await opened.reset("On")
        await site.bmcs.close()
    async with serving_tls(other, certificate(tmp_path / "second.pem"), address.port):
        site.started()
        for _ in range(2):
            with pytest.raises(CertificateChanged):
                async with site.bmcs.open(address, CREDENTIALS):
                    pass
        assert other.requests == []
        await site.pins.forget(str(address))
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            assert await opened.power() == "On"
        await site.bmcs.close()


async def test_both_transports_check(tmp_path: Path) -> None:
    """A connection that sushy opens later is held to the same certificate as the one that logged in."""
    bmc, other = RawBmc(), RawBmc()
    site = Site(TlsMode.PIN)
    async with serving_tls(bmc, certificate(tmp_path / "first.pem")) as address:
        opening = site.bmcs.open(address, CREDENTIALS)
        opened = await opening.__aenter__()
        await opened.power()
    async with serving_tls(other, certificate(tmp_path / "second.pem"), address.port):
        with pytest.raises(CertificateChanged):
            await opened.reset("On")
        with pytest.raises(CertificateChanged):
            await opened.power()
        await opening.__aexit__(None, None, None)
        await site.bmcs.close()
    assert other.requests == []
    assert other.count(RESET) == 0


async def test_a_ca_policy_refuses_what_the_ca_has_not_signed(tmp_path: Path) -> None:
    """And says that it is the certificate, not that the BMC is away."""
    bmc = RawBmc()
    certificate(tmp_path / "ca.pem")
    site = Site()
    policy = TlsPolicy(TlsMode.CA, tmp_path / "ca.pem")
    async with serving_tls(bmc, certificate(tmp_path / "bmc.pem")) as address:
        bmcs = RedfishBmcs(site.leases(), site.pins, site.clock, settings=RedfishSettings(policy))
        with pytest.raises(CertificateChanged, match="not trusted"):
            async with bmcs.open(address, CREDENTIALS):
                pass
        assert bmc.requests == []
        assert await bmcs.probe(address) is not None  # a look finds what nobody has signed yet
        await bmcs.close()
    assert bmc.requests == ["GET /redfish/v1/"]


async def test_plain_http_where_tls_is_expected_is_unreachable() -> None:
    """Nothing is pinned, nothing is sent in the clear."""
    bmc = RawBmc()
    server = await asyncio.start_server(bmc.handle, "127.0.0.1", 0)
    address = BmcAddress(*server.sockets[0].getsockname())
    site = Site(TlsMode.PIN)
    with pytest.raises(BmcUnreachable):
        async with site.bmcs.open(address, CREDENTIALS):
            pass
    assert site.pins.fingerprints == {}
    await site.bmcs.close()
    server.close()
