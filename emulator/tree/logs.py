"""LogServices of systems, managers and chassis; their entries come from redfish/log_services.py."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.persona.service import Log
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, action, collection, link, resource

_DESCRIPTIONS = {"SEL": "System event log", "Event": "Log of events"}


def build(persona: Persona) -> Iterator[Entry]:
    """A collection for each owner of logs, and the logs."""
    for owner, logs in _owners(persona).items():
        path = f"{owner}/LogServices"
        _, document = collection(path, "LogServiceCollection", "Log Service Collection", [log.id for log in logs])
        yield path, {**document, "Description": "The logs of this resource"}
        for log in logs:
            yield _service(f"{path}/{log.id}", log)


def links(persona: Persona) -> Iterator[Entry]:
    """What the owners of logs link to."""
    for owner in _owners(persona):
        yield owner, {"LogServices": link(f"{owner}/LogServices")}


def log_path(persona: Persona, log: Log) -> str:
    """Where a log is."""
    owners = {
        "system": places.host(persona),
        "baseboard": f"{places.SYSTEMS}/{persona.baseboard}",
        "manager": places.bmc(persona),
        "baseboard-manager": places.gpu_manager(persona),
        "chassis": f"{places.CHASSIS}/{log.chassis or persona.chassis[0].id}",
    }
    return f"{owners[log.owner]}/LogServices/{log.id}"


def _owners(persona: Persona) -> dict[str, list[Log]]:
    owners: dict[str, list[Log]] = {}
    for log in persona.logs:
        owners.setdefault(log_path(persona, log).rsplit("/", 2)[0], []).append(log)
    return owners


def _service(path: str, log: Log) -> Entry:
    actions = action(path, "LogService.ClearLog")
    if log.collects:
        actions |= action(path, "LogService.CollectDiagnosticData", DiagnosticDataType=("Manager", "OEM"))
    properties: Document = {
        "Description": _DESCRIPTIONS[log.kind],
        "ServiceEnabled": True,
        "LogEntryType": log.kind,
        "MaxNumberOfRecords": log.records,
        "OverWritePolicy": "WrapsWhenFull",
        "DateTime": "1970-01-01T00:00:00Z",
        "DateTimeLocalOffset": "+00:00",
        "Status": HEALTHY,
        "Entries": link(f"{path}/Entries"),
        "Actions": actions,
    }
    return resource(path, "LogService.v1_4_0.LogService", log.name, properties)
