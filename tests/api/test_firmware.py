"""Firmware plans and compliance over HTTP, and as commands show them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import typer
from typer.testing import CliRunner, Result

from profiles.firmware.component import Transport
from provisioner.commands.firmware_plan import firmware_compliance, firmware_plan
from provisioner.errors import BadInput, NotFound
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains
from provisioner.models.role import Role
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import UpdateOffer
from tests.api.site import N1, Site, expected, quick_release
from tests.api.small_bmcs import SmallBmc
from tests.api.test_nodes import INVENTORY
from tests.pure.samples import catalogued, part

N2 = NodeName("r01-u02")
BUNDLE = catalogued(
    {"name": "bmc", "glob": "BMC", "version": "2", "releases": ["1", "2"], "activation": "bmc_reset", "floor": "1"},
    {
        "name": "gpu",
        "glob": "GPU_*",
        "version": "2",
        "releases": ["1", "2!", "3"],
        "activation": "aux_cycle",
        "domain": "tray",
    },
)
NEW = (part("BMC", "2"), part("GPU_0", "2"), part("GPU_1", "2"))
OLD = (part("BMC", "1"), part("GPU_0", "1"), part("GPU_1", "1"))
CLASS = "hgx-h100-8gpu"

app = typer.Typer()
app.command("plan")(firmware_plan)
app.command("compliance")(firmware_compliance)


def give(site: Site, name: NodeName, parts: Sequence[FirmwareComponent], age: timedelta = timedelta()) -> None:
    """The node has the release with our bundle, and was read with these parts."""
    release = quick_release(site.files.image, timedelta(seconds=1)).model_copy(update={"firmware": BUNDLE})
    site.run(site.store.documents.put_release(release))
    site.run(site.store.nodes.assign(name, CLASS, ReleaseDigest(release.digest)))
    inventory = replace(INVENTORY, firmware=tuple(parts))
    site.run(site.store.documents.put_inventory(name, inventory, datetime.now(UTC) - age))


def say_tray(site: Site, tray: str) -> None:
    """Both nodes are in it."""
    told = [replace(one, domains=Domains(tray=tray)) for one in expected(2)]
    site.run(site.store.nodes.expect(told, datetime.now(UTC)))


def run(site: Site, *words: str) -> Result:
    """The command, with the service's address and token."""
    environment = {"FIRSTLIGHT_TOKEN": site.tokens[Role.ADMIN]}
    return CliRunner().invoke(app, [*words, "--url", site.url], env=environment)


def test_a_plan_has_stages_and_says_who_goes_down_too(site: Site) -> None:
    give(site, N2, NEW)
    give(site, N1, OLD)
    say_tray(site, "t1")
    site.move(State.IN_PRODUCTION, N2)
    site.run(site.store.vault.put_factory(N1, Credentials("ADMIN", Secret("x"))))
    site.bmcs.bmc = SmallBmc(OLD)
    plan = site.get("/v1/nodes/r01-u01/firmware-plan").json()
    assert plan["refusals"] == []
    assert plan["irreversible"] == ["gpu: from 1 to 2 there is no way back"]
    first, second = plan["stages"]
    assert (first["activation"], first["neighbours"]) == ("bmc_reset", [])
    assert (second["activation"], second["domains"]) == ("aux_cycle", ["node", "tray"])
    (other,) = second["neighbours"]
    assert (other["node"], other["shared"], other["blocks"]) == (N2, "t1", "is in production")
    assert plan["expected_seconds"] == first["expected_seconds"] + second["expected_seconds"]
    text = run(site, "plan", "r01-u01").output
    assert "flash bmc to 2, from 1 (1 parts)" in text
    assert "flash gpu to 2, from 1 (2 parts; no way back)" in text
    assert "goes down too: rack r01, position 2 (r01-u02), by tray t1; r01-u02 is in production" in text
    assert "cannot be reverted: gpu: from 1 to 2 there is no way back" in text
    assert text.splitlines()[-1].endswith("on real hardware, 2 activations")


def test_a_tray_that_nobody_named_is_told(site: Site) -> None:
    give(site, N1, OLD)
    site.run(site.store.vault.put_factory(N1, Credentials("ADMIN", Secret("x"))))
    site.bmcs.bmc = SmallBmc(OLD, offer=UpdateOffer((Transport.MULTIPART,), largest_bytes=0))
    text = run(site, "plan", "r01-u01").output
    assert "nobody knows: who shares its tray; name it in the expected list: domains: {tray: NAME}" in text
    assert "refused: gpu: gpu-2.fw has 1 bytes, and this BMC takes no more than 0" in text


def test_a_pool_is_told_by_equal_plans_from_what_was_read_last(site: Site) -> None:
    """No BMC is asked: none is there."""
    give(site, N1, OLD, timedelta(hours=3))
    give(site, N2, NEW)
    say_tray(site, "t1")
    answer = site.get(f"/v1/firmware/plan?pool={CLASS}").json()
    assert [(group["nodes"], len(group["stages"])) for group in answer["groups"]] == [([N1], 2), ([N2], 0)]
    assert answer["pool"]["nodes"] == 2
    text = run(site, "plan", CLASS).output
    assert "bmc to 2; gpu to 2; no way back" in text
    assert "2 nodes; inventories are 0 s to 3 h old" in text or "2 nodes; inventories are 1 s to 3 h old" in text
    assert json.loads(run(site, "plan", "--rack", "r01", "--json").output)["pool"]["unseen"] == []


def test_nodes_that_were_never_read_are_named(site: Site) -> None:
    give(site, N1, NEW)
    answer = site.get("/v1/firmware/plan?rack=r01").json()
    assert answer["pool"]["unseen"] == [N2]
    assert "without inventory or release: r01-u02" in run(site, "compliance").output


def test_compliance_by_component_class(site: Site) -> None:
    give(site, N1, (part("BMC", "2"), part("GPU_0", "2"), part("GPU_1", "1")))
    give(site, N2, (part("BMC", "0.9"), part("GPU_0", "2")))
    (bundle,) = site.get(f"/v1/firmware/compliance?pool={CLASS}").json()["bundles"]
    bmc, gpu = bundle["components"]
    assert (bmc["uniform"], bmc["versions"][0]["nodes"], bmc["mixed"]) == (False, 1, [])
    assert (gpu["mixed"], gpu["uneven"]) == ([N1], [N2])
    assert {one["version"]: one["verdict"] for one in gpu["versions"]} == {"2": "equal", "1": "older"}
    text = run(site, "compliance", CLASS).output
    assert "mixed: r01-u01; other number of parts: r01-u02" in text


def test_what_nobody_knows_is_not_there(site: Site) -> None:
    assert site.get("/v1/firmware/plan?pool=none").status_code == 404
    assert site.get("/v1/firmware/plan?poool=none").status_code == 422
    missing = run(site, "plan", "none").exception
    assert isinstance(missing, NotFound)
    assert str(missing) == "no node and no hardware class with nodes is called none"
    assert isinstance(run(site, "plan").exception, BadInput)
    with pytest.raises(NotFound, match="no node has the hardware class none and is in r09"):
        raise run(site, "compliance", "none", "--rack", "r09").exception or AssertionError
