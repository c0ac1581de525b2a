"""The service root, which anyone may read."""

from emulator.redfish.http import Request, Response, link, ok
from emulator.redfish.router import Route

ROOT = "/redfish/v1"
_LINKS = ("Systems", "Chassis", "Managers", "SessionService", "AccountService", "UpdateService", "Registries")


async def get_versions(_request: Request) -> Response:
    """DSP0266: /redfish names the versions that there are."""
    return Response(200, {"v1": f"{ROOT}/"})


async def get_odata(_request: Request) -> Response:
    """DSP0266: the OData service document."""
    values = [{"name": name, "kind": "Singleton", "url": f"{ROOT}/{name}"} for name in ("Service", *_LINKS)]
    values[0]["url"] = f"{ROOT}/"
    return Response(200, {"@odata.context": f"{ROOT}/$metadata", "value": values})


async def get_root(request: Request) -> Response:
    """ServiceRoot."""
    board = request.machine.board
    persona = board.persona
    uuids = {"system": board.uuid, "own": board.uuid[:-2] + "fe", "absent": None}
    shown = {"Vendor": persona.root.vendor, "Product": persona.root.product, "UUID": uuids[persona.root.uuid]}
    document = {
        "Id": persona.root.id,
        "Name": "Root Service",
        "RedfishVersion": persona.root.redfish_version,
        **{name: value for name, value in shown.items() if value},
        **{name: link(f"{ROOT}/{name}") for name in _LINKS},
        "Tasks": link(f"{ROOT}/TaskService"),
        "Links": {"Sessions": link(f"{ROOT}/SessionService/Sessions")},
        "ProtocolFeaturesSupported": {
            "ExcerptQuery": False,
            "FilterQuery": False,
            "OnlyMemberQuery": False,
            "SelectQuery": False,
            "DeepOperations": {"DeepPATCH": False, "DeepPOST": False},
            "ExpandQuery": {
                "Links": persona.expand.links,
                "NoLinks": persona.expand.no_links,
                "ExpandAll": persona.expand.expand_all,
                "Levels": persona.expand.levels,
                "MaxLevels": persona.expand.max_levels,
            },
        },
    }
    if persona.root.vendor == "Dell":
        document["Oem"] = {"Dell": {"ServiceTag": board.serial, "ManagerMACAddress": board.mac(-1).lower()}}
    return ok("ServiceRoot.v1_10_0.ServiceRoot", ROOT, document)


ROUTES = (
    Route("/redfish", get=get_versions, anyone=frozenset({"GET", "HEAD"})),
    Route("/redfish/v1", get=get_root, anyone=frozenset({"GET", "HEAD"})),
    Route("/redfish/v1/odata", get=get_odata, anyone=frozenset({"GET", "HEAD"})),
)
