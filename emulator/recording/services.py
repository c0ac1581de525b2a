"""The optional services of a recorded server: what its tree has of events, logs, reports and virtual media."""

from typing import Literal

from emulator.persona.service import Log, Services
from emulator.recording.recording import Recording
from emulator.tree.document import ROOT, Document

Owner = Literal["system", "manager"]


def services_of(recording: Recording, host: Document, manager: Document) -> Services:
    """What of them works; the certificates stay as they were recorded."""
    events = recording.get(f"{ROOT}/EventService")
    stream = str(events.get("ServerSentEventUri") or "")
    owner, drives = _drives(recording, host, manager)
    return Services(
        events=bool(events),
        sse=bool(stream),
        sse_uri=stream,
        telemetry=bool(recording.get(f"{ROOT}/TelemetryService")),
        certificates=False,
        virtual_media=drives,
        virtual_media_of=owner,
        logs=(*_logs(recording, host, "system"), *_logs(recording, manager, "manager")),
    )


def _drives(recording: Recording, host: Document, manager: Document) -> tuple[Owner, tuple[str, ...]]:
    owners: tuple[tuple[Owner, Document], ...] = (("manager", manager), ("system", host))
    for owner, document in owners:
        found = tuple(str(drive["Id"]) for drive in recording.members(document.get("VirtualMedia")) if "Id" in drive)
        if found:
            return owner, found
    return "manager", ()


def _logs(recording: Recording, document: Document, owner: Owner) -> tuple[Log, ...]:
    """A log whose entries could not be read then cannot be read now."""
    services = [one for one in recording.members(document.get("LogServices")) if "Entries" in one and "Id" in one]
    return tuple(
        Log(
            owner=owner,
            id=str(one["Id"]),
            name=str(one.get("Name", one["Id"])),
            kind="SEL" if one.get("LogEntryType") == "SEL" or one["Id"] == "SEL" else "Event",
            takes=("host", "gpu") if owner == "system" else ("bmc",),
            records=min(int(one.get("MaxNumberOfRecords") or 512), 512),
        )
        for one in services
    )
