"""Nodes over HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.inventory import BootAbilities, FirmwareComponent, Identity, Inventory, Power, Processor
from provisioner.models.lifecycle import State
from provisioner.models.operation import Progress
from provisioner.models.role import Role
from provisioner.models.secret import Credentials, Secret
from provisioner.services import nodes
from tests.api.site import N1, Site
from tests.api.small_bmcs import SmallBmc

BMC = FirmwareComponent("BMC_0", "/redfish/v1/UpdateService/FirmwareInventory/BMC_0", "BMC", "1.0", updateable=True)
INVENTORY = Inventory(
    identity=Identity("S1-1", "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b", "Acme", "G8"),
    power=Power.ON,
    architecture="x86_64",
    processors=(
        Processor("CPU_0", "CPU", "Xeon"),
        Processor("GPU_0", "GPU", "H100"),
        Processor("GPU_1", "GPU", "H100"),
    ),
    memory_gib=2048,
    macs=("52:54:00:00:00:01",),
    firmware=(BMC,),
    boot=BootAbilities(("Pxe",), http_boot_uri=False),
    requests=12,
)


def pages(site: Site, query: str) -> Iterator[list[dict[str, Any]]]:
    cursor = ""
    while True:
        document = site.get(f"/v1/nodes?{query}{cursor}").json()
        yield document["nodes"]
        if document["next"] is None:
            return
        cursor = f"&cursor={document['next']}"


@pytest.mark.parametrize("limit", [1, 7, 20, 39, 40, 500])
def test_pages_hold_every_node_once_and_in_order(shared_site: Site, limit: int) -> None:
    found = list(pages(shared_site, f"limit={limit}"))
    assert all(len(page) == limit for page in found[:-1])
    places = [(one["rack"], one["position"]) for page in found for one in page]
    assert places == sorted(set(places))
    assert len(places) == 40


def test_the_first_page_is_not_everything(shared_site: Site) -> None:
    assert len(next(pages(shared_site, ""))) == 40
    assert len(next(pages(shared_site, "limit=3"))) == 3


def test_filters(site: Site) -> None:
    assert site.post("/v1/nodes/r01-u02/hold", json={"reason": "cable"}).status_code == 200
    site.move(State.IDENTIFIED)

    def names(query: str) -> list[str]:
        return [one["name"] for one in site.get(f"/v1/nodes?{query}").json()["nodes"]]

    assert names("state=identified") == ["r01-u01"]
    assert names("held=true") == names("state=held") == ["r01-u02"]
    assert names("held=false&rack=r01") == ["r01-u01"]
    assert names("rack=r02") == []


def test_a_line_says_what_a_node_does(site: Site) -> None:
    site.move(State.IDENTIFIED)
    doing = Progress(N1, "secure", "asking the BMC for a new password", 40.0, datetime.now(UTC))
    site.run(site.store.documents.put_progress(doing))
    node = site.get("/v1/nodes").json()["nodes"][0]
    assert (node["doing"], node["percent"], node["owner"]) == (doing.doing, 40.0, "firstlight")
    assert 0 < node["way"] < 0.1
    assert 3600 < node["left_seconds"] < 3 * 3600


def test_progress_of_an_earlier_operation_is_not_told(site: Site) -> None:
    old = Progress(N1, "identify", "reading the service root", 90.0, datetime.now(UTC))
    site.run(site.store.documents.put_progress(old))
    site.move(State.IDENTIFIED)
    node = site.get("/v1/nodes/r01-u01").json()
    assert (node["doing"], node["percent"]) == ("replacing the factory password of the BMC", None)


def test_a_node_with_its_parts_and_firmware(site: Site) -> None:
    assert site.get("/v1/nodes/r01-u01").json()["inventory"] is None
    site.run(site.store.documents.put_inventory(N1, INVENTORY, datetime.now(UTC)))
    node = site.get("/v1/nodes/r01-u01").json()
    assert node["bmc"] == "127.20.1.1:8443"
    assert node["inventory"]["gpus"] == ["H100", "H100"]
    assert node["inventory"]["processors"] == ["Xeon"]
    assert node["inventory"]["firmware"] == [{"id": "BMC_0", "name": "BMC", "version": "1.0", "updateable": True}]
    assert node["burn_in"] is None


def test_hold_release_and_their_history(site: Site) -> None:
    held = site.post("/v1/nodes/r01-u01/hold", role=Role.OPERATOR, json={"reason": "  water on the floor "}).json()
    assert (held["state"], held["hold"]["held_from"]) == ("held", "discovered")
    assert held["hold"]["reason"] == "water on the floor (held by operator)"
    assert held["hold"]["instruction"]["where"] == "rack r01, position 1 (r01-u01)"
    released = site.post("/v1/nodes/r01-u01/release", role=Role.TECHNICIAN).json()
    assert (released["state"], released["hold"]) == ("discovered", None)
    again = site.post("/v1/nodes/r01-u01/release")
    assert again.status_code == 409
    assert again.json()["detail"] == "r01-u01 is not held; it is discovered"
    events = site.get("/v1/nodes/r01-u01/history").json()["events"]
    assert [one["kind"] for one in events] == ["discovered", "transition", "released"]
    assert events[2]["reason"] == "released by technician"
    assert [one["id"] for one in site.get("/v1/nodes/r01-u01/history?limit=1").json()["events"]] == [events[2]["id"]]


def test_why_a_node_is_held(site: Site) -> None:
    instruction = Instruction(Owner.TECHNICIAN, "rack r01, position 1", "replace it", "it answers", "fan 3")
    hold = Hold("no fan turns", instruction, datetime.now(UTC), retry_at=datetime.now(UTC))
    assert site.run(site.store.nodes.hold(site.node(), hold))
    why = site.get("/v1/nodes/r01-u01/why").json()
    assert (why["state"], why["seen"], why["owner"], why["wait_seconds"]) == (
        "held",
        "no fan turns",
        "technician",
        None,
    )
    assert why["instruction"] == {
        "owner": "technician",
        "where": "rack r01, position 1",
        "what": "replace it",
        "done_when": "it answers",
        "part": "fan 3",
    }
    assert why["events"][-1]["reason"] == "no fan turns"


def test_why_a_node_is_on_its_way(site: Site) -> None:
    why = site.get("/v1/nodes/r01-u01/why").json()
    assert (why["doing"], why["instruction"]) == ("finding out which server this is", None)
    assert why["wait_seconds"] > 3600


def test_a_password_from_the_label_starts_the_node_over(site: Site) -> None:
    site.run(nodes.hold(site.service.world, N1, "password", "test"))
    body = {"username": "ADMIN", "password": "from the label"}
    response = site.post("/v1/nodes/r01-u01/password", role=Role.TECHNICIAN, json=body)
    assert response.status_code == 200
    assert response.json()["hold"] is None
    assert "from the label" not in response.text
    assert site.run(site.store.vault.current(N1)) == Credentials("ADMIN", Secret("from the label"))
    assert "from the label" not in site.get("/v1/nodes/r01-u01/history").text


def test_trust_forgets_the_certificate(site: Site) -> None:
    bmc = str(site.node().bmc)
    site.run(site.store.certificates.pin(bmc, "ab" * 32))
    assert site.post("/v1/nodes/r01-u01/trust").status_code == 200
    assert site.run(site.store.certificates.pinned(bmc)) is None


def test_the_plan_of_a_new_node_is_the_way_to_its_release(site: Site) -> None:
    plan = site.get("/v1/nodes/r01-u01/plan").json()
    assert plan["release"] is None
    assert plan["expected_seconds"] == sum(step["expected_seconds"] for step in plan["steps"])


def test_a_plan_says_what_the_bmc_answers(site: Site) -> None:
    site.release()
    asked = site.get("/v1/nodes/r01-u01/plan")
    assert asked.status_code == 409
    assert asked.json()["type"] == "urn:firstlight:problem:needs-person"
    assert "pull-out label" in asked.json()["instruction"]["what"]
    site.run(site.store.vault.put_factory(N1, Credentials("ADMIN", Secret("x"))))
    silent = site.get("/v1/nodes/r01-u01/plan")
    assert silent.status_code == 504
    assert silent.json()["detail"] == "127.20.1.1:8443: no answer for 30 s"
    site.bmcs.bmc = SmallBmc((BMC,))
    plan = site.get("/v1/nodes/r01-u01/plan").json()
    assert plan["release"] == "hgx-h100-2025-1"
    assert any(step["refusals"] for step in plan["steps"])


def test_names_are_names(shared_site: Site) -> None:
    assert shared_site.get("/v1/nodes/..").status_code in {404, 422}
    for name in ("a%00b", "a%0ab", "-a", "x" * 254, "a%20b"):
        assert shared_site.get(f"/v1/nodes/{name}").status_code == 422
    assert shared_site.get(f"/v1/nodes/{NodeName('r99-u99')}").status_code == 404
