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

    def _open(self, name: str, address: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if self._folder.keeps:
            context.load_cert_chain(self._file(name, address))
        else:
            if name not in self._pems:
                self._pems[name] = _make(name, address)
            _load(context, self._pems[name])
        context.num_tickets = 0
        return context

    def _file(self, name: str, address: str) -> Path:
        path = self._folder.directory(name) / "bmc.pem"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_suffix(".new")
            new.touch(mode=0o600)
            new.write_bytes(_make(name, address))
            new.replace(path)
        return path


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
