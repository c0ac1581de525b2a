"""Assembly: the boards and parts of a chassis that can be ordered."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, resource
from emulator.tree.places import CHASSIS


def build(persona: Persona) -> Iterator[Entry]:
    """Of the box, and of the baseboard that carries the GPUs where that is another chassis."""
    outer = places.outer(persona)
    board = f"{CHASSIS}/{places.gpu_board(persona).id}"
    system = persona.system
    yield _assembly(outer, [("System Board", system.manufacturer, system.model, system.part_number, "SystemBoard")])
    gpus = persona.gpus
    if board != outer:
        parts = [(gpu, gpus.manufacturer, gpus.model, gpus.board_part_number, "GPU") for gpu in gpus.ids]
        yield _assembly(board, parts)


def _assembly(box: str, parts: list[tuple[str, str, str, str, str]]) -> Entry:
    path = f"{box}/Assembly"
    found: list[Document] = [
        {
            "@odata.id": f"{path}#/Assemblies/{number}",
            "MemberId": str(number),
            "Name": name,
            "Vendor": vendor,
            "Producer": vendor,
            "Model": model,
            "PartNumber": part_number,
            "SerialNumber": f"${{hex:assembly {box} {name}}}",
            "PhysicalContext": context,
            "Status": HEALTHY,
        }
        for number, (name, vendor, model, part_number, context) in enumerate(parts)
    ]
    return resource(path, "Assembly.v1_4_0.Assembly", "Assembly Information", {"Assemblies": found})
