"""Where things are: the paths of what several builders link to."""

from emulator.persona.hardware import Adapter, ChassisPart
from emulator.persona.persona import Persona
from emulator.tree.document import ROOT

SYSTEMS = f"{ROOT}/Systems"
CHASSIS = f"{ROOT}/Chassis"
MANAGERS = f"{ROOT}/Managers"
FABRICS = f"{ROOT}/Fabrics"
ACCOUNT_SERVICE = f"{ROOT}/AccountService"
ACCOUNTS = f"{ACCOUNT_SERVICE}/Accounts"
SESSION_SERVICE = f"{ROOT}/SessionService"
SESSIONS = f"{SESSION_SERVICE}/Sessions"
UPDATE_SERVICE = f"{ROOT}/UpdateService"
FIRMWARE_INVENTORY = f"{UPDATE_SERVICE}/FirmwareInventory"
TASK_SERVICE = f"{ROOT}/TaskService"
TASKS = f"{TASK_SERVICE}/Tasks"
EVENT_SERVICE = f"{ROOT}/EventService"
SUBSCRIPTIONS = f"{EVENT_SERVICE}/Subscriptions"


def host(persona: Persona) -> str:
    """The system that is booted."""
    return f"{SYSTEMS}/{persona.system.id}"


def outer(persona: Persona) -> str:
    """The chassis that holds everything."""
    return f"{CHASSIS}/{persona.chassis[0].id}"


def bmc(persona: Persona) -> str:
    """The manager of the host."""
    return f"{MANAGERS}/{persona.bmc.id}"


def gpu_system(persona: Persona) -> str:
    """The system whose processors the GPUs are."""
    return f"{SYSTEMS}/{persona.gpus.system or persona.system.id}"


def gpu_manager(persona: Persona) -> str:
    """The manager of the GPU baseboard."""
    return f"{MANAGERS}/{persona.baseboard_bmc.id}" if persona.baseboard_bmc else bmc(persona)


def gpu_board(persona: Persona) -> ChassisPart:
    """The chassis that carries GPUs and NVSwitches."""
    return next((part for part in persona.chassis if part.baseboard), persona.chassis[0])


def gpu_chassis(persona: Persona) -> tuple[str, ...]:
    """The chassis of each GPU: its own, or the one that carries them all."""
    gpus = persona.gpus
    if gpus.chassis is None:
        return tuple(outer(persona) for _ in gpus.ids)
    pattern = f"{CHASSIS}/{gpus.chassis}"
    return tuple(pattern.replace("{n}", str(number)) for number in range(gpus.first, gpus.first + len(gpus.ids)))


def switch_chassis(persona: Persona) -> tuple[str, ...]:
    """The chassis of each NVSwitch."""
    switches = persona.nvswitches
    if switches.chassis is None:
        return (outer(persona),) * switches.count
    pattern = f"{CHASSIS}/{switches.chassis}"
    numbers = range(switches.first, switches.first + switches.count)
    return tuple(pattern.replace("{n}", str(number)) for number in numbers)


def cpu_chassis(persona: Persona) -> tuple[str, ...]:
    """The chassis of each CPU."""
    pattern = persona.system.cpu_chassis
    ids = persona.system.cpu_ids
    if pattern is None:
        return (outer(persona),) * len(ids)
    return tuple(f"{CHASSIS}/{pattern}".replace("{n}", str(number)) for number in range(len(ids)))


def shown_cpus(persona: Persona, system: str) -> tuple[str, ...]:
    """The ids of the CPUs that the system with that id shows."""
    return persona.system.cpu_ids if persona.baseboard_cpus or system != persona.baseboard else ()


def gpus(persona: Persona) -> tuple[str, ...]:
    """Each GPU as the service shows it: a Processor or a PCIeDevice."""
    if persona.gpus.place == "pcie-devices":
        return gpu_devices(persona)
    return tuple(f"{gpu_system(persona)}/Processors/{gpu}" for gpu in persona.gpus.ids)


def gpu_devices(persona: Persona) -> tuple[str, ...]:
    """The PCIeDevice of each GPU."""
    boxes = gpu_chassis(persona)
    return tuple(f"{box}/PCIeDevices/{gpu}" for box, gpu in zip(boxes, persona.gpus.ids, strict=True))


def gpu_memory(persona: Persona) -> tuple[str, ...]:
    """The memory of each GPU; none where the service does not show it."""
    gpus = persona.gpus
    if not gpus.memory_id or gpus.place != "processors":
        return ()
    path = f"{gpu_system(persona)}/Memory"
    return tuple(f"{path}/{gpus.memory_id.replace('{gpu}', gpu)}" for gpu in gpus.ids)


def dimms(persona: Persona, system: str) -> tuple[str, ...]:
    """The modules of the host's memory, as the system with that id shows them."""
    one = persona.system
    if system == persona.baseboard and not persona.baseboard_cpus:
        return ()
    numbers = range(one.dimm_first, one.dimm_first + one.dimms)
    return tuple(f"{SYSTEMS}/{system}/Memory/{one.dimm_id.replace('{n}', str(number))}" for number in numbers)


def drives(persona: Persona) -> tuple[str, ...]:
    """The drives."""
    system = persona.system
    box = f"{CHASSIS}/{system.drive_chassis or persona.chassis[0].id}"
    return tuple(f"{box}/Drives/{system.drive_id.replace('{n}', str(number))}" for number in range(system.drives))


def supplies(persona: Persona) -> tuple[str, ...]:
    """The power supplies of the first chassis."""
    return tuple(f"{outer(persona)}/PowerSubsystem/PowerSupplies/{one}" for one in persona.supplies.ids)


def fans(persona: Persona) -> tuple[str, ...]:
    """The fans of the first chassis."""
    return tuple(f"{outer(persona)}/ThermalSubsystem/Fans/{one}" for one in persona.fans.ids)


def adapters(persona: Persona) -> tuple[tuple[str, Adapter], ...]:
    """Id and model of each network adapter of the first chassis."""
    return tuple((identity, adapter) for adapter in persona.adapters for identity in adapter.ids)


def leak_detectors(persona: Persona) -> tuple[str, ...]:
    """The leak detectors."""
    path = f"{outer(persona)}/LeakDetectors"
    return tuple(f"{path}/{one}" for one in persona.physics.leak_detectors)
