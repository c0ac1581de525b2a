"""Every resource of each persona, as clients of others see it."""

import warnings
from typing import Any

import pytest
import redfish
import sushy
import urllib3

from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from tests.emulator.bmc_client import BmcClient
from tests.emulator.conftest import PERSONAS, Museum
from tests.emulator.links import links


def processors(persona: Persona) -> int:
    """How many processors the host shows."""
    gpus = persona.gpus
    here = gpus.place == "processors" and gpus.system in ("", persona.system.id)
    return len(persona.system.cpu_ids) + (len(gpus.ids) if here else 0)


@pytest.mark.parametrize("persona", PERSONAS)
def test_every_link_leads_to_a_resource_that_names_itself(museum: Museum, persona: str) -> None:
    """DSP0266: a service shall not return links to resources that it does not have."""
    client = BmcClient(museum[persona])
    seen: dict[str, dict[str, Any]] = {}
    waiting = ["/redfish/v1"]
    while waiting:
        path = waiting.pop().partition("#")[0].rstrip("/")
        if path not in seen:
            seen[path] = client.get(path)
            waiting.extend(links(seen[path]))
    wrong = [path for path, document in seen.items() if document.get("@odata.id", path).rstrip("/") != path]
    assert not wrong
    assert len(seen) > 60


@pytest.mark.parametrize("persona", [name for name in PERSONAS if load_persona(name).expand.no_links])
def test_expanded_collection_holds_the_documents_of_its_members(museum: Museum, persona: str) -> None:
    """DSP0266, $expand."""
    client = BmcClient(museum[persona])
    path = "/redfish/v1/UpdateService/FirmwareInventory"
    plain = [client.get(member["@odata.id"]) for member in client.get(path)["Members"][:5]]
    assert client.get(f"{path}?$expand=.($levels=1)")["Members"][:5] == plain


@pytest.mark.parametrize("persona", [name for name in PERSONAS if not load_persona(name).expand.no_links])
def test_expand_is_refused_where_the_root_does_not_offer_it(museum: Museum, persona: str) -> None:
    """DSP0266: 501 for a query parameter that the service does not have. The recorded switch tray offers no $expand."""
    client = BmcClient(museum[persona])
    assert not any(client.get("/redfish/v1")["ProtocolFeaturesSupported"]["ExpandQuery"].values())
    assert client.send("GET", "/redfish/v1/Chassis?$expand=.($levels=1)").status_code == 501


@pytest.mark.parametrize("persona", PERSONAS)
def test_sushy_reads_each_persona(museum: Museum, persona: str) -> None:
    """OpenStack's client."""
    bmc = museum[persona]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        basic = sushy.auth.BasicAuth(bmc.username, bmc.password)
        root = sushy.Sushy(f"{bmc.url}/redfish/v1/", verify=False, auth=basic)
        system = root.get_system_collection().get_members()[0]
        assert system.power_state == sushy.PowerState.OFF
        assert system.uuid == bmc.uuid
        assert len(system.ethernet_interfaces.get_members()) == len(load_persona(persona).system.nics)
        assert len(system.processors.get_members()) == processors(load_persona(persona))
        assert root.get_manager_collection().get_members()[0].firmware_version
        assert root.get_chassis_collection().get_members()[0].serial_number == bmc.serial
        inventory = root.get_update_service().firmware_inventory.get_members()
        assert len(inventory) >= len(load_persona(persona).slots)


@pytest.mark.parametrize("persona", [name for name in PERSONAS if load_persona(name).bios.attributes])
def test_sushy_reads_bios_settings(museum: Museum, persona: str) -> None:
    """OpenStack's client, where there are any."""
    bmc = museum[persona]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        basic = sushy.auth.BasicAuth(bmc.username, bmc.password)
        root = sushy.Sushy(f"{bmc.url}/redfish/v1/", verify=False, auth=basic)
        assert root.get_system_collection().get_members()[0].bios.attributes


@pytest.mark.parametrize("persona", PERSONAS)
def test_dmtf_client_logs_in_and_out(museum: Museum, persona: str) -> None:
    """DMTF python-redfish-library."""
    bmc = museum[persona]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        client = redfish.redfish_client(
            bmc.url, bmc.username, bmc.password, default_prefix="/redfish/v1", timeout=10, max_retry=1
        )
        client.login(auth="session")
        assert client.get("/redfish/v1/Systems").status == 200
        client.logout()


def test_each_address_is_another_machine(museum: Museum) -> None:
    """One process, one port: what differs is the address."""
    roots = [BmcClient(bmc).send("GET", "/redfish/v1").json() for bmc in museum.values()]
    assert [root["Vendor"] for root in roots] == [load_persona(name).root.vendor for name in museum]
