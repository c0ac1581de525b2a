"""Processor, with what tells CPUs of different makers apart when InstructionSet is missing."""

from sushy.resources.base import Field, ResourceBase


class ProcessorEntry(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """One CPU, GPU or other processor (DSP0268 Processor); values as the BMC wrote them."""

    identity = Field("Id")
    processor_type = Field("ProcessorType")
    model = Field("Model")
    name = Field("Name")
    manufacturer = Field("Manufacturer")
    instruction_set = Field("InstructionSet")
    version = Field("Version")
