"""What kernel modules say of themselves, and who signed them."""

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from images.boot_program.signing import SigningPair
from images.modules.compression import compress, compression_of, decompress
from images.modules.errors import ModuleUnreadableError, SigningKeyError
from images.modules.key import ModuleKey, load_certificate, load_key
from images.modules.module_info import module_info
from images.modules.signature import MARK, is_signed_by, read_signature, sign_module, signer_name, split_signature
from tests.images.kernel_modules import ABI, elf, module, signing_pair
from tests.requirements import need

SIGN_FILE = Path("/usr/lib/linux-kbuild-6.1/scripts/sign-file")
NVIDIA = module(
    "nvidia", "version=535.309.01", "license=NVIDIA", "depends=drm,i2c-core", "firmware=a.bin", "firmware=b"
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> SigningPair:
    return signing_pair(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def key(pair: SigningPair) -> ModuleKey:
    return load_key(pair)


def test_a_module_says_its_kernel_version_needs_and_firmware() -> None:
    """modinfo(8)."""
    info = module_info(NVIDIA)
    assert (info.name, info.abi, info.version, info.license) == ("nvidia", ABI, "535.309.01", "NVIDIA")
    assert (info.depends, info.firmware) == (("drm", "i2c-core"), ("a.bin", "b"))
    assert module_info(module("tiny")).version is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no 64-bit little-endian ELF file"),
        (b"\x7fELF\x01\x01" + bytes(60), "is no 64-bit little-endian ELF file"),
        (NVIDIA[:16] + b"\x02\x00" + NVIDIA[18:], "is an ELF file, and no kernel module"),
        (NVIDIA[:-70], "is cut short: its table of sections lies beyond its end"),
        (elf({".text": b"\xc3"}), "says neither its name nor its kernel"),
    ],
)
def test_what_is_no_module_is_told(content: bytes, said: str) -> None:
    with pytest.raises(ModuleUnreadableError, match=re.escape(said)):
        module_info(content)


@given(at=st.integers(0, len(NVIDIA) - 1), value=st.integers(0, 255))
def test_a_damaged_module_is_read_or_refused_and_nothing_else(at: int, value: int) -> None:
    damaged = NVIDIA[:at] + bytes([value]) + NVIDIA[at + 1 :]
    with suppress(ModuleUnreadableError):
        module_info(damaged)


def test_a_signature_is_the_one_that_the_kernels_own_tool_writes(pair: SigningPair, tmp_path: Path) -> None:
    """Documentation/admin-guide/module-signing.rst: scripts/sign-file. Byte for byte, and the key need not be there."""
    need(SIGN_FILE.exists(), "linux-kbuild-6.1 is not installed")
    bare, signed = tmp_path / "bare.ko", tmp_path / "signed.ko"
    bare.write_bytes(NVIDIA)
    subprocess.run([SIGN_FILE, "sha256", pair.key, pair.certificate, bare, signed], check=True)
    assert sign_module(NVIDIA, load_key(pair)) == signed.read_bytes()


def test_a_signed_module_is_the_module_with_something_behind_it(key: ModuleKey) -> None:
    signed = sign_module(NVIDIA, key)
    bare, message = split_signature(signed)
    assert bare == NVIDIA
    assert message is not None
    assert signer_name(message) == "site modules"
    assert read_signature(message).hash == "sha256"
    assert module_info(signed) == module_info(NVIDIA)
    assert split_signature(NVIDIA) == (NVIDIA, None)


def test_signing_again_replaces_the_signature(key: ModuleKey, tmp_path: Path) -> None:
    other = load_key(signing_pair(tmp_path, "other"))
    assert sign_module(sign_module(NVIDIA, other), key) == sign_module(NVIDIA, key)


def test_a_signature_holds_for_its_key_and_its_bytes_only(key: ModuleKey, tmp_path: Path) -> None:
    signed = sign_module(NVIDIA, key)
    other = load_certificate(signing_pair(tmp_path, "other").certificate)
    assert is_signed_by(signed, key.certificate)
    assert not is_signed_by(signed, other)
    assert not is_signed_by(NVIDIA, key.certificate)
    flipped = bytearray(signed)
    flipped[len(NVIDIA) // 2] ^= 1
    assert not is_signed_by(bytes(flipped), key.certificate)


def test_a_signature_under_the_same_name_by_another_key_does_not_hold(key: ModuleKey, tmp_path: Path) -> None:
    """Issuer and serial number are for finding the certificate; the key decides."""
    impostor = ModuleKey(load_key(signing_pair(tmp_path, "other")).key, key.certificate)
    assert not is_signed_by(sign_module(NVIDIA, impostor), key.certificate)


@given(back=st.integers(len(MARK) + 1, len(MARK) + 450), flip=st.integers(1, 255))
def test_a_damaged_signature_is_refused_or_says_the_same(key: ModuleKey, back: int, flip: int) -> None:
    signed = sign_module(NVIDIA, key)
    damaged = bytearray(signed)
    damaged[-back] ^= flip
    try:
        holds = is_signed_by(bytes(damaged), key.certificate)
    except ModuleUnreadableError:
        return
    signature = read_signature(split_signature(signed)[1] or b"")
    assert not holds or read_signature(split_signature(bytes(damaged))[1] or b"") == signature


@pytest.mark.parametrize("tail", [MARK, bytes(12) + MARK, b"\0\0\x02\0\0\0\0\0\xff\xff\xff\xff" + MARK])
def test_the_end_of_a_signature_without_its_beginning_is_refused(tail: bytes) -> None:
    with pytest.raises(ModuleUnreadableError):
        split_signature(tail)


def test_keys_that_cannot_sign_are_told_with_file_and_remedy(pair: SigningPair, tmp_path: Path) -> None:
    curve = tmp_path / "curve.key"
    content = generate_ec_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    curve.write_bytes(content)
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("-----BEGIN secret-----")
    other = signing_pair(tmp_path, "other")
    for wrong, said in (
        (
            SigningPair(tmp_path / "absent", pair.certificate),
            "absent: No such file or directory; `firstlight boot keys`",
        ),
        (SigningPair(nonsense, pair.certificate), "nonsense: no private key in PEM without a passphrase"),
        (SigningPair(pair.key, nonsense), "nonsense: no certificate in PEM"),
        (SigningPair(curve, pair.certificate), "curve.key: is no RSA key"),
        (SigningPair(other.key, pair.certificate), f"other.key: is not the key of {pair.certificate}"),
    ):
        with pytest.raises(SigningKeyError, match=re.escape(said)) as caught:
            load_key(wrong)
        assert "secret" not in str(caught.value)


def test_the_repr_of_a_key_shows_nothing_of_it(key: ModuleKey) -> None:
    assert "RSA" not in repr(key)


def test_modules_are_compressed_as_the_kernels_own_are() -> None:
    """Debian 12: CONFIG_MODULE_COMPRESS_NONE; Debian 13: CONFIG_MODULE_COMPRESS_XZ."""
    assert compression_of("CONFIG_MODULE_COMPRESS_NONE=y\n# CONFIG_MODULE_COMPRESS_XZ is not set\n") == ""
    assert compression_of("CONFIG_X=y\nCONFIG_MODULE_COMPRESS_XZ=y\n") == ".xz"
    assert compression_of("CONFIG_MODULE_COMPRESS_GZIP=y\n") == ".gz"
    for suffix in ("", ".gz", ".xz"):
        packed = compress(NVIDIA, suffix)
        assert packed == compress(NVIDIA, suffix)
        assert decompress(packed, f"nvidia.ko{suffix}") == NVIDIA
    for name in ("a.ko.xz", "a.ko.gz", "a.ko.zst"):
        with pytest.raises(ModuleUnreadableError):
            decompress(b"\xfd7zXZ\0 and no more", name)


def test_the_kernels_unpacker_takes_what_xz_modules_are_packed_with() -> None:
    """lib/xz knows CRC32 and LZMA2 only; scripts/Makefile.modinst: --check=crc32 --lzma2=dict=1MiB."""
    assert compress(NVIDIA, ".xz")[6:8] == b"\x00\x01"


def test_a_certificate_is_read_from_its_own_file_only(pair: SigningPair) -> None:
    assert isinstance(load_certificate(pair.certificate), x509.Certificate)
    with pytest.raises(SigningKeyError, match="no certificate in PEM"):
        load_certificate(pair.key)
