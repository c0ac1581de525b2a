"""What DSP0266 puts beside the resources: the versions, the OData service document."""

from emulator.redfish.http import Request, Response
from emulator.redfish.router import Route
from emulator.tree.document import ROOT

_ANYONE = frozenset({"GET", "HEAD"})


async def get_versions(_request: Request) -> Response:
    """DSP0266: /redfish names the versions that there are."""
    return Response(200, {"v1": f"{ROOT}/"})


async def get_odata(request: Request) -> Response:
    """DSP0266: the OData service document lists what the service root links to."""
    root = request.machine.board.document(ROOT) or {}
    links = {
        name: value["@odata.id"] for name, value in root.items() if isinstance(value, dict) and "@odata.id" in value
    }
    values = [{"name": name, "kind": "Singleton", "url": url} for name, url in {"Service": f"{ROOT}/", **links}.items()]
    return Response(200, {"@odata.context": f"{ROOT}/$metadata", "value": values})


ROUTES = (
    Route("/redfish", get=get_versions, anyone=_ANYONE),
    Route("/redfish/v1/odata", get=get_odata, anyone=_ANYONE),
)
