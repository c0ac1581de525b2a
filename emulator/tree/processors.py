"""Processors: CPUs and GPUs."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, Document, Entry, collection, resource
from emulator.tree.systems import SYSTEMS, system_ids


def build(persona: Persona) -> Iterator[Entry]:
    """The processors of each system; every system shows the CPUs, one of them the GPUs."""
    for system in system_ids(persona):
        path = f"{SYSTEMS}/{system}/Processors"
        gpus = persona.gpus.ids if system == persona.gpus.system else ()
        members = [*persona.system.cpu_ids, *gpus]
        yield collection(path, "ProcessorCollection", "Processors Collection", members)
        for cpu in persona.system.cpu_ids:
            yield resource(f"{path}/{cpu}", "Processor.v1_10_0.Processor", "Processor", _cpu(persona, cpu))
        for gpu in gpus:
            yield resource(f"{path}/{gpu}", "Processor.v1_20_0.Processor", "Processor", _gpu(persona, gpu))


def _cpu(persona: Persona, cpu: str) -> Document:
    system = persona.system
    arm = persona.arch == "arm64"
    return {
        "ProcessorType": "CPU",
        "ProcessorArchitecture": "ARM" if arm else "x86",
        "InstructionSet": "ARM-A64" if arm else "x86-64",
        "Manufacturer": "NVIDIA" if arm else system.cpu_manufacturer,
        "Model": system.cpu_model,
        "TotalCores": system.cpu_cores,
        "TotalThreads": system.cpu_cores * (1 if arm else system.cpu_threads_per_core),
        "Socket": cpu,
        "Status": HEALTHY,
    }


def _gpu(persona: Persona, gpu: str) -> Document:
    gpus = persona.gpus
    return {
        "ProcessorType": "GPU",
        "Manufacturer": gpus.manufacturer,
        "Model": gpus.model,
        "PartNumber": gpus.part_number,
        "SerialNumber": f"${{number:{gpu}}}",
        "MemorySummary": {"TotalMemorySizeMiB": gpus.memory_gib * 1024},
        "Location": {"PartLocation": {"LocationType": "Slot", "ServiceLabel": gpu}},
        "Status": HEALTHY,
    }
