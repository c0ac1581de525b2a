"""Arbitrary packages that DSP0267 allows."""

import struct

from hypothesis import strategies as st

from tests.firmware_package.builder import Built, Image, Record, Text, descriptor, manifest, vendor_descriptor

_FIRST = {0: 2, 1: 4, 2: 16, 3: 3, 4: 4, 5: 3, 6: 8}
_MORE = {0x100: 2, 0x101: 2, 0x102: 2, 0x103: 1, 0x106: 40, 0x10A: 8}
_CODECS = {0: "ascii", 1: "ascii", 2: "utf-8", 3: "utf-16", 4: "utf-16-le", 5: "utf-16-be"}
_NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=","), max_size=12)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    kind = draw(st.sampled_from(sorted(_CODECS)))
    wide = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF), max_size=20)
    words = draw(_NAMES if kind < 2 else wide)
    return Text(words.encode(_CODECS[kind]), kind)


def words_of(text: Text) -> str:
    """What a reader has to make of it."""
    return text.data.decode(_CODECS[text.kind])


@st.composite
def descriptors(draw: st.DrawFn) -> list[bytes]:
    def of(sizes: dict[int, int]) -> bytes:
        kind = draw(st.sampled_from(sorted(sizes)))
        return descriptor(kind, draw(st.binary(min_size=sizes[kind], max_size=sizes[kind])))

    more = [of(_MORE) for _ in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        more.append(vendor_descriptor(draw(_NAMES), draw(st.binary(max_size=9))))
    return [of(_FIRST), *more]


@st.composite
def records(draw: st.DrawFn, revision: int, components: int) -> Record:
    made = Record(draw(descriptors()), draw(texts()), draw(st.integers(0, 1)))
    made.applicable = draw(st.sets(st.integers(0, components - 1))) if components else set()
    made.package_data = draw(st.binary(max_size=20))
    made.stamp = draw(st.integers(0, 0xFFFFFFFF))
    if revision == 4 and draw(st.booleans()):
        made.manifest = manifest(draw(st.integers(0, 255)), draw(st.binary(max_size=4)), draw(st.binary(max_size=9)))
    return made


@st.composite
def images(draw: st.DrawFn, revision: int) -> Image:
    made = Image(draw(st.binary(min_size=1, max_size=60)), draw(texts()))
    made.classification, made.identifier = draw(st.integers(0, 0xFFFF)), draw(st.integers(0, 0xFFFF))
    made.stamp, made.options = draw(st.integers(0, 0xFFFFFFFF)), draw(st.integers(0, 7))
    made.activation = draw(st.integers(0, 0x3F))
    made.opaque = draw(st.binary(max_size=9)) if revision > 2 else b""
    return made


@st.composite
def packages(draw: st.DrawFn) -> Built:
    revision = draw(st.integers(1, 4))
    parts = [draw(images(revision)) for _ in range(draw(st.integers(0, 4)))]
    bits = 8 * draw(st.integers(1, 3))
    made = Built(revision, draw(texts()), bits=bits, images=parts)
    made.records = [draw(records(revision, len(parts))) for _ in range(draw(st.integers(0, 3)))]
    if revision > 1:
        made.downstream = [draw(records(revision, len(parts))) for _ in range(draw(st.integers(0, 2)))]
    made.released = struct.pack("<h3s5BHB", draw(st.integers(-720, 720)), b"\1\2\3", 4, 5, 6, 7, 8, 2026, 0)
    return made
