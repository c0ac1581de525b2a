"""Redundancy of supplies and of fans: how many there are, and how many may fail."""

from collections.abc import Sequence

from emulator.tree.document import HEALTHY, Document, links


def legacy_redundancy(path: str, part: str, *, name: str, count: int, spare: int) -> Document:
    """The entry of the Power or Thermal at `path` for its `part` (`Fans`)."""
    return {
        "@odata.id": f"{path}#/Redundancy/0",
        "MemberId": "0",
        "Name": name,
        "Mode": "N+m",
        "MinNumNeeded": count - spare,
        "MaxNumSupported": count,
        "RedundancyEnabled": True,
        "RedundancySet": links(f"{path}#/{part}/{number}" for number in range(count)),
        "Status": HEALTHY,
    }


def redundant_group(units: Sequence[str], spare: int) -> Document:
    """The group of a PowerSubsystem or ThermalSubsystem; `units` are paths."""
    return {
        "RedundancyType": "NPlusM",
        "MinNeededInGroup": len(units) - spare,
        "MaxSupportedInGroup": len(units),
        "RedundancyGroup": links(units),
        "Status": HEALTHY,
    }
