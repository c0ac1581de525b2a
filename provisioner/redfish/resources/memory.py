"""Memory, which sushy has only as a summary."""

from sushy.resources.base import Field, ResourceBase


class Memory(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """One module (DSP0268 Memory)."""

    capacity_mib = Field("CapacityMiB")
    memory_type = Field("MemoryType")
