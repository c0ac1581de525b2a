"""What the firmware of this host vouches for, as the kernel tells it."""

from pathlib import Path

_SECURE_BOOT = Path("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c")
_TPM = Path("sys/class/tpm/tpm0/tpm_version_major")


def secure_boot(root: Path = Path("/")) -> str:
    """Return on, off, or unknown. The variable is four bytes of attributes and one of value (UEFI 2.10, 3.3)."""
    value = _read(root / _SECURE_BOOT)
    return "unknown" if len(value) != 5 else "on" if value[4] == 1 else "off"


def tpm(root: Path = Path("/")) -> str:
    """Return the version of the first TPM: 1 or 2; none where the kernel drives none."""
    return _read(root / _TPM).decode("ascii", "replace").strip() or "none"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
