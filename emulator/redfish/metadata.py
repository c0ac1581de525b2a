"""What DSP0266 puts beside the resources: the versions, the OData service document, the metadata document."""

from jinja2 import Environment, PackageLoader, select_autoescape

from emulator.redfish.http import Request, Response
from emulator.redfish.router import Route
from emulator.tree.document import ROOT

_ANYONE = frozenset({"GET", "HEAD"})
_TEMPLATES = Environment(loader=PackageLoader("emulator.redfish"), autoescape=select_autoescape(("xml",)))


async def get_versions(_request: Request) -> Response:
    """DSP0266: /redfish names the versions that there are."""
    return Response(200, {"v1": f"{ROOT}/"})


async def get_odata(request: Request) -> Response:
    """DSP0266: the OData service document lists what the service root links to."""
    root = request.machine.board.document(ROOT) or {}
    parts = {name: value for name, value in root.items() if isinstance(value, dict)}
    urls = {"Service": f"{ROOT}/"} | {name: part["@odata.id"] for name, part in parts.items() if "@odata.id" in part}
    values = [{"name": name, "kind": "Singleton", "url": url} for name, url in urls.items()]
    return Response(200, {"@odata.context": f"{ROOT}/$metadata", "value": values})


async def get_metadata(request: Request) -> Response:
    """DSP0266: the metadata document names the schema of each resource that this kind of machine has."""
    kinds = sorted(request.machine.board.kind.schemas | _ALWAYS)
    schemas = [(kind.partition(".")[0], kind.rpartition(".")[0]) for kind in kinds if kind.count(".") > 1]
    content = _TEMPLATES.get_template("metadata.xml").render(schemas=schemas).encode()
    return Response(200, headers={"Content-Type": "application/xml"}, content=content)


# Resources that come and go and are in no tree.
_ALWAYS = frozenset({"Session.v1_3_0.Session", "Task.v1_4_3.Task", "ManagerAccount.v1_12_0.ManagerAccount"})

ROUTES = (
    Route("/redfish", get=get_versions, anyone=_ANYONE),
    Route("/redfish/v1/odata", get=get_odata, anyone=_ANYONE),
    Route("/redfish/v1/$metadata", get=get_metadata, anyone=_ANYONE),
)
