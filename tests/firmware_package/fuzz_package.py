"""Coverage-guided fuzzing of firmware files: `python -m tests.firmware_package.fuzz_package FOLDER [options]`.

FOLDER is filled with seeds and keeps what is found; the options are libFuzzer's (`-runs=100000`, `-max_total_time=60`).
Anything but `PackageError` ends it with a status other than 0, and leaves the file that did it.
"""

import sys
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["provisioner.firmware.package"]):
    from provisioner.firmware.package.inspect import inspect
    from provisioner.firmware.package.packages import read_package
    from provisioner.firmware.package.source import BufferSource

from provisioner.errors import PackageError
from tests.firmware_package import vectors
from tests.firmware_package.builder import Built, Image, resigned

SMALLEST_HEADER = 43


def one_input(data: bytes) -> None:
    """The file as it is, and with a checksum that fits, or nothing behind it would ever be read."""
    for content in (data, resigned(data) if len(data) >= SMALLEST_HEADER else b""):
        source = BufferSource(content)
        with suppress(PackageError):
            assert inspect(source).size_bytes == len(content)
        with suppress(PackageError):
            package = read_package(source, strict=True)
            assert all(package.header_bytes <= one.image.offset for one in package.components if one.image.size_bytes)
            assert all(one.image.end <= len(content) for one in package.components)


def seeds() -> list[bytes]:
    """Packages of every revision, and one inside another."""
    built = [vectors.single(), vectors.three(), vectors.with_everything()]
    for revision in (2, 3):
        other = vectors.with_everything()
        other.revision = revision
        built.append(other)
    encoded = [one.encode() for one in built]
    return [*encoded, Built(images=[Image(one) for one in encoded]).encode()]


def main() -> None:
    """Fuzz until the options say that it is enough."""
    folder = Path(sys.argv[1])
    for number, content in enumerate(seeds()):
        (folder / f"seed-{number}").write_bytes(content)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
