"""Is a serial number one? Boards leave the factory with placeholders in place of it. Pure."""

import re

_PLACEHOLDERS = frozenset(
    {
        "",
        "na",
        "none",
        "null",
        "unknown",
        "default",
        "empty",
        "tobefilledbyoem",
        "notspecified",
        "notapplicable",
        "notavailable",
        "defaultstring",
        "oem",
        "invalid",
        "undefined",
        "test",
    }
)
"""As found in SMBIOS tables in the field, without case, blanks and punctuation."""

_UUID_PLACEHOLDERS = frozenset(
    {"0" * 32, "f" * 32, "03000200040005000006000700080009", "12345678123456781234567812345678"}
)


def is_placeholder(serial: str) -> bool:
    """Too short, a known filler, "serial number" in words, one character repeated, or a run such as 0123456789."""
    text = re.sub(r"[^0-9a-z]", "", serial.casefold())
    filler = text in _PLACEHOLDERS or text.endswith("serialnumber")
    return filler or len(text) < 4 or len(set(text)) == 1 or _is_run(text)


def is_placeholder_uuid(uuid: str) -> bool:
    """All zeros, all ones, or one of the constants that boards are shipped with."""
    text = re.sub(r"[^0-9a-f]", "", uuid.casefold())
    return len(text) != 32 or text in _UUID_PLACEHOLDERS or len(set(text)) == 1


def uuid_forms(uuid: str) -> tuple[str, ...]:
    """A UUID in lower case, and with the bytes of its first three fields turned round.

    SMBIOS keeps those fields little-endian since 2.6 (DSP0134, 7.2.1); boards and firmware that do not, say the other
    form of the same UUID.
    """
    plain = uuid.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", plain, re.ASCII):
        return (plain,)
    *fields, node = plain.split("-")
    turned = ["".join(re.findall("..", field)[::-1]) for field in fields[:3]]
    return (plain, "-".join([*turned, fields[3], node]))


def same(one: str, other: str) -> bool:
    """Equal as labels are read: case and outer space do not count."""
    return one.strip().casefold() == other.strip().casefold()


def _is_run(text: str) -> bool:
    up = "0123456789abcdefghijklmnopqrstuvwxyz"
    digits = "01234567890123456789"
    return text in up or text in digits or text in digits[1:] or text in digits[::-1] or text in up[::-1]
