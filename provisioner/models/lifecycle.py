"""The states of a node, from dark to production and out again."""

from enum import StrEnum


class State(StrEnum):
    """Where a node is in its life; the rules are in `lifecycle/table.py`."""

    DISCOVERED = "discovered"
    IDENTIFIED = "identified"
    SECURED = "secured"
    INVENTORIED = "inventoried"
    UPDATING_FIRMWARE = "updating_firmware"
    CONFIGURING_BIOS = "configuring_bios"
    BOOTING = "booting"
    BURNING_IN = "burning_in"
    READY = "ready"
    IN_PRODUCTION = "in_production"
    MAINTENANCE = "maintenance"
    HELD = "held"
    DECOMMISSIONING = "decommissioning"
    DECOMMISSIONED = "decommissioned"
