"""A node gets another release by name: over HTTP and on the command line."""

import pytest
import typer
from typer.testing import CliRunner

from provisioner.commands.node import node_app
from provisioner.errors import FirstlightError
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from provisioner.services import nodes
from tests.api.site import N1, Site

RELEASE, PATH = "hgx-h100-2025-1", f"/v1/nodes/{N1}/reimage"


def at(site: Site, state: State) -> None:
    """N1 in a state, as a server of the class of `RELEASE` with an older release."""
    site.run(site.store.nodes.assign(N1, "hgx-h100-8gpu", ReleaseDigest("sha256:older")))
    site.move(state)


@pytest.mark.parametrize("state", [State.READY, State.BURNING_IN, State.BOOTING, State.INVENTORIED])
def test_a_node_goes_through_its_installation_again(site: Site, state: State) -> None:
    at(site, state)
    answer = site.post(PATH, json={"release": RELEASE})
    assert (answer.status_code, answer.json()["state"]) == (200, "inventoried")
    now = site.node()
    assert now.release is not None
    assert site.run(site.store.documents.release(now.release)).name == RELEASE
    assert (now.generation, now.attempt) == (2, 1)
    told = site.get(f"/v1/nodes/{N1}/history").json()["events"][-1]
    assert told["reason"].startswith(f"admin gives it release {RELEASE} (sha256:")


def test_asked_again_it_changes_nothing(site: Site) -> None:
    at(site, State.READY)
    for _ in range(3):
        assert site.post(PATH, json={"release": RELEASE}).status_code == 200
    assert site.node().generation == 2
    site.move(State.READY)
    assert site.post(PATH, json={"release": RELEASE}).json()["state"] == "ready"


@pytest.mark.parametrize("release", [RELEASE, "dell-xe9680-2025-1"])
def test_a_hold_ends_with_it_and_is_told(site: Site, release: str) -> None:
    """What held it belonged to the image before, in the operator's judgement."""
    site.run(site.store.nodes.assign(N1, "hgx-h100-8gpu", ReleaseDigest("sha256:older")))
    site.move(State.BOOTING)
    site.run(nodes.hold(site.service.world, N1, "its root is damaged", "anna"))
    answer = site.post(PATH, json={"release": release})
    if release != RELEASE:
        assert (answer.status_code, site.node().state) == (409, State.HELD)
        return
    assert (answer.status_code, answer.json()["state"], site.node().hold) == (200, "inventoried", None)
    reasons = [one["reason"] for one in site.get(f"/v1/nodes/{N1}/history").json()["events"]]
    assert any(reason.endswith("which ends its hold: its root is damaged (held by anna)") for reason in reasons)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(
    ("state", "why"),
    [
        (State.IN_PRODUCTION, "somebody works on it"),
        (State.MAINTENANCE, "somebody works at it"),
        (State.DECOMMISSIONING, "it is on its way out"),
        (State.DECOMMISSIONED, "it is out of service"),
    ],
)
def test_a_node_that_others_use_is_never_installed_anew(site: Site, state: State, why: str, held: bool) -> None:
    at(site, state)
    if held and state is not State.DECOMMISSIONED:
        site.run(nodes.hold(site.service.world, N1, "a fan", "anna"))
    before = site.node()
    answer = site.post(PATH, json={"release": RELEASE})
    assert answer.status_code == 409
    assert why in answer.json()["detail"]
    assert state.value in answer.json()["detail"]
    assert site.node() == before


def test_a_release_for_other_hardware_is_refused(site: Site) -> None:
    at(site, State.READY)
    answer = site.post(PATH, json={"release": "dell-xe9680-2025-1"})
    detail = "dell-xe9680-2025-1 is for dell-xe9680-8gpu, and r01-u01 is hgx-h100-8gpu"
    assert (answer.status_code, answer.json()["detail"]) == (409, detail)


def test_a_release_that_is_none_is_not_found(site: Site) -> None:
    at(site, State.READY)
    answer = site.post(PATH, json={"release": "hgx-h100-2025-2"})
    assert answer.status_code == 404
    assert f'did you mean "{RELEASE}"?' in answer.json()["detail"]
    assert site.post("/v1/nodes/nobody/reimage", json={"release": RELEASE}).status_code == 404
    assert site.post(PATH, json={"release": RELEASE}, role=Role.TECHNICIAN).status_code == 403


def test_on_the_command_line(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    at(site, State.READY)
    data = tmp_path_factory.mktemp("data")
    (data / "endpoint").write_text(site.url)
    (data / "admin-token").write_text(site.tokens[Role.ADMIN])
    app = typer.Typer()
    app.add_typer(node_app, name="node")
    words = ["node", "reimage", N1, "--data-dir", str(data), "--release"]
    done = CliRunner().invoke(app, [*words, RELEASE])
    assert (done.exit_code, done.output.startswith("r01-u01: inventoried; ")) == (0, True)
    refused = CliRunner().invoke(app, [*words, "dell-xe9680-2025-1"])
    assert isinstance(refused.exception, FirstlightError)
    assert "is for dell-xe9680-8gpu" in str(refused.exception)
    assert site.node(NodeName(N1)).state is State.INVENTORIED
