"""People act at any moment: they hold a node and let it go, and want another release."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.bundle import BundlePolicy
from profiles.release import Release
from provisioner.errors import Conflict
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.secret import Credentials, Secret
from provisioner.services import nodes as services
from provisioner.services import reimaging
from tests.operations.bounded import bounded
from tests.operations.invariants import assert_ready, assert_safe
from tests.operations.server import now
from tests.operations.site import Site, server

NAME = NodeName("r01-u01")
moment = st.integers(0, 4200)


def newer(release: Release) -> Release:
    """Another version of the GPUs' firmware and another image."""
    components = []
    for one in release.firmware.components:
        changed = {"version": "97.00.00.00.01", "artefact": one.artefact.model_copy(update={"sha256": "f" * 64})}
        components.append(one.model_copy(update=changed) if one.component == "gpu-vbios" else one)
    firmware = release.firmware.model_copy(update={"components": tuple(components)})
    return release.model_copy(update={"firmware": firmware, "image_digest": "sha256:newer-image"})


@bounded(30)
@given(moment, st.integers(1, 1800))
def test_a_node_that_is_held_and_let_go_at_any_moment(at: int, after: int) -> None:
    """What the BMC does meanwhile goes on: a flash is found again, not started again, and nothing is reset under it."""
    one = server()

    async def act(site: Site) -> None:
        await asyncio.sleep(at)
        with suppress(Conflict):  # it moved in the same moment: a person looks again
            await services.hold(site.world, NAME, "a look at the cabling", "kim")
            await asyncio.sleep(after)
            await services.release(site.world, NAME, "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)


def older(release: Release) -> Release:
    """What the server came with; its bundle says that going back is meant."""
    components = [
        one.model_copy(
            update={"version": "0.1", "artefact": one.artefact.model_copy(update={"sha256": f"{number:064}"})}
        )
        for number, one in enumerate(release.firmware.components)
    ]
    changes = {"components": tuple(components), "policy": BundlePolicy(newer="flash")}
    firmware = release.firmware.model_copy(update=changes)
    return release.model_copy(update={"firmware": firmware, "image_digest": "sha256:older-image"})


@pytest.mark.parametrize("other", [newer, older])
@bounded(25)
@given(moment)
def test_another_release_at_any_moment(other: Callable[[Release], Release], at: int) -> None:
    """A flash of the first release that is under way is waited for: nothing is sent and nothing is reset meanwhile."""
    one = server()
    wanted = other(one.release)
    one.learn(wanted)

    async def act(site: Site) -> None:
        await asyncio.sleep(at)
        await site.world.documents.put_release(wanted)
        await site.world.nodes.desire(NAME, ReleaseDigest(wanted.digest), "kim wants it", site.world.clock.now())

    site = Site([one], people=act)
    (node,) = site.run()
    assert node.release == wanted.digest
    assert_safe(site, one)
    one.become(wanted)
    assert_ready(site, one, node)


@bounded(20)
@given(st.lists(st.integers(0, 4600), min_size=1, max_size=2).map(sorted))
def test_somebody_pulls_the_plug_at_any_moment(moments: list[int]) -> None:
    """Also under a flash, which the simulated boards survive; the host stays off when power comes back."""
    one = server()

    async def act(_: Site) -> None:
        for at in moments:
            await asyncio.sleep(max(0.0, at - now()))
            one.lose_power()

    site = Site([one], people=act)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)


def test_a_gpu_that_was_reseated() -> None:
    """The release of the hold is enough: the device is looked at again, not at what was kept of it."""
    one = server(gpus=7)

    async def act(site: Site) -> None:
        await asyncio.sleep(600)
        assert (await site.nodes.get(NAME)).state is State.HELD
        one.lose_power()
        one.gpus = 8
        await services.release(site.world, NAME, "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)


def test_a_password_that_was_read_from_the_label() -> None:
    one = server(password="on the label")

    async def act(site: Site) -> None:
        await asyncio.sleep(600)
        await services.set_password(site.world, NAME, Credentials("ADMIN", Secret("on the label")), "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)
    assert one.logins.count(False) == 1


@bounded(15)
@given(moment)
def test_a_node_that_is_given_a_release_by_name_at_any_moment(at: int) -> None:
    """`assign` keeps the release that a person chose, whatever the site wants on this class."""
    one = server()
    wanted = newer(one.release)
    one.learn(wanted)

    async def act(site: Site) -> None:
        site.shelf.others["newer"] = wanted
        await asyncio.sleep(at)
        for _ in range(2):
            await reimaging.reimage(site.world, NAME, "newer", "kim")

    site = Site([one], people=act)
    (node,) = site.run()
    assert node.release == wanted.digest
    assert_safe(site, one)
    one.become(wanted)
    assert_ready(site, one, node)
