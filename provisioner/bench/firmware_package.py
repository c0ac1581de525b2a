"""What it costs to look into a large firmware package, of DSP0267 1.3 with a checksum over all of it."""

import hashlib
import os
import struct
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from provisioner.bench.process import Cost, apart, cores, cost_of
from provisioner.errors import BadInput
from provisioner.firmware.package.inspect import Inspection, inspect_file
from provisioner.firmware.package.pldm import REVISIONS

_IMAGES = 8
_BLOCK = os.urandom(2**20)
_REVISION = 4
_RELEASED = bytes(13)


@dataclass(frozen=True, slots=True)
class PackageFigures:
    """`floor_seconds`: SHA-256 and CRC-32 of the same file, and nothing else."""

    size_mib: float
    images: int
    inspect_seconds: float
    floor_seconds: float
    inspect_cpu_seconds: float
    peak_memory_mib: float

    def figures(self) -> dict[str, float | str | None]:
        """For a table."""
        return asdict(self)


def measure(mebibytes: int) -> PackageFigures:
    """Write such a package, look into it in a new process, remove it. Raises `BadInput` where it is read wrong."""
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        path = Path(folder) / "package.fwpkg"
        write_package(path, mebibytes)
        core = cores()[-1]
        _, floor = apart(core, cost_of, _floor, path)
        size_bytes = path.stat().st_size
        images, cost = apart(core, _inspected, path)
    if images != _IMAGES:
        raise BadInput(f"{images} images were read of a package of {_IMAGES}")
    return _figures(size_bytes, cost, floor)


def write_package(path: Path, mebibytes: int) -> None:
    """A package of eight images, every byte of it written: a file with holes would be read from memory."""
    whole, rest = divmod(mebibytes, _IMAGES)
    sizes = [(whole + (number < rest)) * len(_BLOCK) for number in range(_IMAGES)]
    header_bytes = len(_header(sizes, 0, 0))
    payload_crc = 0
    with path.open("wb") as file:
        file.seek(header_bytes)
        for size_bytes in sizes:
            for _ in range(size_bytes // len(_BLOCK)):
                payload_crc = zlib.crc32(_BLOCK, payload_crc)
                file.write(_BLOCK)
        file.seek(0)
        file.write(_header(sizes, header_bytes, payload_crc))


def _header(sizes: list[int], header_bytes: int, payload_crc: int) -> bytes:
    identifier = next(one for one, revision in REVISIONS.items() if revision == _REVISION).bytes
    start = (
        identifier + struct.pack("<BH", _REVISION, header_bytes) + _RELEASED + struct.pack("<HBB", 8, 1, 5) + b"bench"
    )
    descriptor = struct.pack("<HHI", 1, 4, 5703)
    record = struct.pack("<BIBBHI", 1, 0, 1, 0, 0, 0) + b"\xff" + descriptor
    start += bytes([1]) + struct.pack("<H", len(record) + 2) + record + bytes([0]) + struct.pack("<H", len(sizes))
    offset = header_bytes
    for number, size_bytes in enumerate(sizes):
        start += struct.pack("<HHIHHIIBBI", 10, number, 0xFFFFFFFF, 0, 1, offset, size_bytes, 1, 0, 0)
        offset += size_bytes
    return start + struct.pack("<II", zlib.crc32(start), payload_crc)


def _inspected(path: Path) -> tuple[int, Cost]:
    inspection, cost = cost_of(inspect_file, path)
    return _images(inspection), cost


def _images(inspection: Inspection) -> int:
    return len(inspection.package.components) if inspection.package and not inspection.findings else 0


def _floor(path: Path) -> int:
    digest, checksum = hashlib.sha256(), 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(len(_BLOCK)):
            digest.update(block)
            checksum = zlib.crc32(block, checksum)
    return checksum


def _figures(size_bytes: int, cost: Cost, floor: Cost) -> PackageFigures:
    return PackageFigures(
        size_mib=round(size_bytes / 2**20, 1),
        images=_IMAGES,
        inspect_seconds=round(cost.seconds, 3),
        floor_seconds=round(floor.seconds, 3),
        inspect_cpu_seconds=round(cost.cpu_seconds, 3),
        peak_memory_mib=round(cost.memory_mib, 1),
    )
