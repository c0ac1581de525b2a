"""Values of DER, one after the other (X.690, definite lengths only): what a PKCS#7 signature is written in."""

from collections.abc import Iterator
from dataclasses import dataclass

INTEGER, OCTETS, NULL, OBJECT_ID, SEQUENCE, SET, CHOICE_0 = 0x02, 0x04, 0x05, 0x06, 0x30, 0x31, 0xA0


class DerError(ValueError):
    """The bytes are not DER."""


@dataclass(frozen=True, slots=True)
class Value:
    """`whole`: with tag and length."""

    tag: int
    content: bytes
    whole: bytes

    def parts(self) -> list["Value"]:
        """What a sequence, a set or an explicit tag holds; raises DerError."""
        return list(values(self.content))


def encoded(tag: int, *contents: bytes) -> bytes:
    """Return one value with its tag and length."""
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def whole_number(number: int) -> bytes:
    """Return a whole number, not below 0, as a value."""
    return encoded(INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def values(content: bytes) -> Iterator[Value]:
    """Yield the values; raises DerError at the first byte that is none."""
    at = 0
    while at < len(content):
        start, tag = at, content[at]
        size, at = _length(content, at + 1)
        if at + size > len(content):
            raise DerError("a value ends beyond the data")
        yield Value(tag, content[at : at + size], content[start : at + size])
        at += size


def _length(content: bytes, at: int) -> tuple[int, int]:
    if at >= len(content):
        raise DerError("a length is missing")
    first = content[at]
    if first < 0x80:
        return first, at + 1
    count = first & 0x7F
    if not 1 <= count <= 4 or at + 1 + count > len(content):
        raise DerError("a length is none")
    return int.from_bytes(content[at + 1 : at + 1 + count], "big"), at + 1 + count
