"""Variables files of OVMF and AAVMF, the UEFI firmware of virtual machines, with Secure Boot keys enrolled.

Layout: EDK II, MdeModulePkg/Include/Guid/VariableFormat.h: a firmware volume with a store of authenticated variables.
"""

import struct
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from images.boot_program.signature_lists import ATTRIBUTES, VENDORS, timestamp

_STORE = UUID("aaf32c78-947b-439a-a180-2e144ec37792")
_SECURE_BOOT_ENABLE = UUID("f0a30bc7-af08-4556-99c4-001009c93a44")
_VOLUME_MAGIC_AT, _VOLUME_HEADER_SIZE_AT = 40, 48
_STORE_HEADER_BYTES, _FORMATTED, _HEALTHY = 28, 0x5A, 0xFE
_VARIABLE, _ADDED = 0x55AA, 0x3F
_BOOT_SERVICE_ONLY = 0x03  # non-volatile, boot service access


class VariablesError(ValueError):
    """The template is no empty variables file of OVMF or AAVMF."""


def with_keys(template: bytes, lists: Mapping[str, bytes], at: datetime) -> bytes:
    """Return the empty variables file with PK, KEK and db set and Secure Boot on. `lists`: variable -> its content."""
    start, end = _room(template)
    stamp = timestamp(at)
    variables = [_packed(name, VENDORS[name], ATTRIBUTES, stamp, content) for name, content in lists.items()]
    variables.append(_packed("SecureBootEnable", _SECURE_BOOT_ENABLE, _BOOT_SERVICE_ONLY, bytes(16), b"\x01"))
    new = b"".join(variables)
    if start + len(new) > end:
        raise VariablesError(f"it has room for {end - start} bytes, the keys need {len(new)}: use a 4 MiB firmware's")
    return template[:start] + new + template[start + len(new) :]


def _room(template: bytes) -> tuple[int, int]:
    """Where variables may stand: from, to."""
    try:
        header_size = struct.unpack_from("<H", template, _VOLUME_HEADER_SIZE_AT)[0]
        store = template[header_size : header_size + 16]
        size, form, state = struct.unpack_from("<IBB", template, header_size + 16)
    except struct.error as error:
        raise VariablesError("it is too short for a variables file") from error
    magic = template[_VOLUME_MAGIC_AT : _VOLUME_MAGIC_AT + 4]
    if (magic, store, form, state) != (b"_FVH", _STORE.bytes_le, _FORMATTED, _HEALTHY):
        raise VariablesError("it is no variables file of OVMF or AAVMF")
    start, end = header_size + _STORE_HEADER_BYTES, header_size + size
    if template[start:end].strip(b"\xff"):
        raise VariablesError("it holds variables already: name the empty one, such as OVMF_VARS_4M.fd")
    return start, end


def _packed(name: str, vendor: UUID, attributes: int, stamp: bytes, content: bytes) -> bytes:
    encoded = (name + "\0").encode("utf-16-le")
    head = struct.pack("<HBBIQ", _VARIABLE, _ADDED, 0, attributes, 0) + stamp
    sizes = struct.pack("<III", 0, len(encoded), len(content))
    packed = head + sizes + vendor.bytes_le + encoded + content
    return packed + b"\xff" * (-len(packed) % 4)
