"""The self-signed certificate of each BMC, made once and kept with its state."""

import datetime as dt
import ipaddress
import os
import ssl
from collections import OrderedDict
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from emulator.machine.state import write_secret
from emulator.machine.state_folder import StateFolder

_MADE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
_VALID = dt.timedelta(days=3650)
_CONTEXTS = 1024


class Certificates:
    """The TLS contexts of the BMCs, each made at the first connection to it."""

    def __init__(self, folder: StateFolder) -> None:
        """Certificates are files in `folder` when it keeps anything, and in memory when it does not."""
        self._folder = folder
        self._pems: dict[str, bytes] = {}
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    def context(self, name: str, address: str) -> ssl.SSLContext:
        """The TLS context of a BMC; the ones that were used last are held, the others are read again."""
        context = self._contexts.get(name)
        if context is None:
            context = self._contexts[name] = self._open(name, address)
        self._contexts.move_to_end(name)
        if len(self._contexts) > _CONTEXTS:
            self._contexts.popitem(last=False)
        return context

    def pem(self, name: str, address: str) -> bytes:
        """The private key of a BMC and its certificate, with those of its issuers if it has any."""
        if self._folder.keeps:
            return self._file(name, address).read_bytes()
        if name not in self._pems:
            self._pems[name] = _make(name, address)
        return self._pems[name]

    def replace(self, name: str, pem: bytes) -> None:
        """Serve another key and certificate from the next handshake on. Raises ssl.SSLError when they do not fit."""
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pem)
        if self._folder.keeps:
            _write(self._folder.directory(name) / "bmc.pem", pem)
        else:
            self._pems[name] = pem
        self._contexts.pop(name, None)

    def _open(self, name: str, address: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if self._folder.keeps:
            context.load_cert_chain(self._file(name, address))
        else:
            _load(context, self.pem(name, address))
        context.num_tickets = 0
        return context

    def _file(self, name: str, address: str) -> Path:
        path = self._folder.directory(name) / "bmc.pem"
        if not path.exists():
            _write(path, _make(name, address))
        return path


def _write(path: Path, pem: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_secret(path, pem)


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """OpenSSL reads certificates from files only; this one is in memory."""
    number = os.memfd_create("bmc.pem")
    try:
        os.write(number, pem)
        context.load_cert_chain(f"/proc/self/fd/{number}")
    finally:
        os.close(number)


def _make(name: str, address: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_MADE)
        .not_valid_after(_MADE + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
