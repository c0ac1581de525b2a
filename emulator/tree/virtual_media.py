"""VirtualMedia, of the manager or of the system as the persona says; what is in it comes from the machine."""

from collections.abc import Iterator

from emulator.persona.media import media_types
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, action, collection, resource
from emulator.tree.document import link as to

_KIND = "VirtualMedia.v1_6_0.VirtualMedia"


def build(persona: Persona) -> Iterator[Entry]:
    """The drives; none where the persona has none."""
    drives = persona.services.virtual_media
    if not drives:
        return
    path = media_path(persona)
    yield collection(path, "VirtualMediaCollection", "Virtual Media Services", drives)
    for drive in drives:
        yield resource(f"{path}/{drive}", _KIND, "Virtual Media", _properties(f"{path}/{drive}", drive))


def links(persona: Persona) -> Iterator[Entry]:
    """What their owner links to."""
    if persona.services.virtual_media:
        path = media_path(persona)
        yield path.rpartition("/")[0], {"VirtualMedia": to(path)}


def media_path(persona: Persona) -> str:
    """Where the drives are."""
    owner = places.host(persona) if persona.services.virtual_media_of == "system" else places.bmc(persona)
    return f"{owner}/VirtualMedia"


def _properties(path: str, drive: str) -> Document:
    actions = action(
        path,
        "VirtualMedia.InsertMedia",
        TransferMethod=("Stream",),
        TransferProtocolType=("HTTP", "HTTPS"),
    )
    return {
        "MediaTypes": list(media_types(drive)),
        "Image": None,
        "ImageName": None,
        "Inserted": False,
        "ConnectedVia": "NotConnected",
        "WriteProtected": True,
        "TransferMethod": "Stream",
        "TransferProtocolType": None,
        "UserName": None,
        "Password": None,
        "VerifyCertificate": False,
        "Status": HEALTHY,
        "@Redfish.WriteableProperties": ["Image", "Inserted", "WriteProtected", "UserName", "Password"],
        "Actions": actions | action(path, "VirtualMedia.EjectMedia"),
    }
