"""SoftwareInventory, read leniently: sushy's own class refuses entries without Id or Name."""

from sushy.resources.base import Field, ResourceBase


class FirmwareEntry(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """One member of the firmware inventory (DSP0268 SoftwareInventory)."""

    identity = Field("Id")
    name = Field("Name")
    version = Field("Version")
    updateable = Field("Updateable")
    software_id = Field("SoftwareId")
