"""What DMTF's validators need from outside: schemas and profiles, in a folder beside the checkout."""

import json
import re
import shutil
import tarfile
from pathlib import Path

from tests.checks.tree import ROOT
from tests.requirements import need

DMTF = ROOT.parent / "shared" / "dmtf"


def need_dmtf() -> None:
    """Skip, or fail in CI, where the folder is absent."""
    need(DMTF.is_dir(), f"DMTF's schemas and profiles are not in {DMTF}")


def unpack_schemas(folder: Path) -> Path:
    """The folder with the CSDL files of every Redfish schema."""
    with tarfile.open(DMTF / "csdl.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def copy_profiles(folder: Path) -> Path:
    """Copy the profiles, each also under the names that other profiles require it by.

    redfish-interop-validator 3.0.4 looks for `NAME.v<MinVersion>.json` beside a profile, whatever newer one is there.
    """
    shutil.copytree(DMTF / "profiles", folder)
    for path in sorted(folder.glob("*.json")):
        required = json.loads(path.read_text(encoding="utf-8")).get("RequiredProfiles", {})
        for name, requirement in required.items():
            wanted = folder / f"{name}.v{requirement['MinVersion'].replace('.', '_')}.json"
            if not wanted.exists():
                shutil.copy(newest(folder, name), wanted)
    return folder


def newest(folder: Path, profile: str) -> Path:
    """The newest version of a profile that is there."""
    return max(folder.glob(f"{profile}.v*.json"), key=version)


def version(path: Path) -> list[int]:
    """The numbers in a profile's file name."""
    return [int(number) for number in re.findall(r"\d+", path.stem)]
