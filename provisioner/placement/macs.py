"""Addresses of Ethernet ports, however they are written. Pure."""

import re

_DIGITS = 12
_NOBODYS = frozenset({"0" * _DIGITS, "f" * _DIGITS})


def canonical(mac: str) -> str | None:
    """Six bytes in lower case with colons; None for what is no address of one Ethernet port."""
    digits = re.sub(r"[:. -]", "", mac).lower()
    if not re.fullmatch(r"[0-9a-f]{12}", digits, re.ASCII) or digits in _NOBODYS:
        return None
    return ":".join(digits[at : at + 2] for at in range(0, _DIGITS, 2))
