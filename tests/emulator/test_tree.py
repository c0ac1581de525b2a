"""The trees of all personas, without a server."""

import pytest

from emulator.kind import load_kind
from emulator.persona.load import persona_names
from emulator.redfish.router import Router
from emulator.redfish.routes import ROUTES
from emulator.redfish.sushy_emulator import is_of_sushy_tools
from emulator.tree.document import Document
from tests.emulator.links import links


def documents(persona: str) -> dict[str, Document]:
    tree = load_kind(persona).tree
    found = {path: tree.render(path, lambda name, part: f"{name}{part}") for path in tree.paths}
    return {path: document for path, document in found.items() if document}


@pytest.mark.parametrize("persona", persona_names())
def test_every_link_leads_to_something_that_answers(persona: str) -> None:
    """DSP0266: a service shall not return links to resources that it does not have."""
    tree, router = documents(persona), Router(ROUTES)
    wanted = {path.partition("#")[0].rstrip("/") for document in tree.values() for path in links(document)}
    lost = {path for path in wanted if path not in tree and not router.find(path) and not is_of_sushy_tools(path)}
    assert not lost


@pytest.mark.parametrize("persona", persona_names())
def test_every_resource_is_reachable_from_the_root(persona: str) -> None:
    """What no link leads to, no client finds."""
    tree = documents(persona)
    seen: set[str] = set()
    waiting = ["/redfish/v1"]
    while waiting:
        path = waiting.pop().partition("#")[0].rstrip("/")
        if path in tree and path not in seen:
            seen.add(path)
            waiting += links(tree[path])
    registries = {path for path in tree if path.startswith("/redfish/v1/Registries/")}
    assert set(tree) - seen <= registries
