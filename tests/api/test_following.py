"""Pools that follow a channel: each move of its pointer starts one rollout, whoever is killed in between."""

# ruff: noqa: ARG002 - the protocol tells more than this needs to know

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from provisioner.capabilities.cipher import Cipher
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.pool_settings import FollowSettings, PoolSettings, default_pool
from provisioner.rollout.spec import Floor
from provisioner.rollout.state import RolloutState
from provisioner.services.following import Follower
from provisioner.services.rollout_orders import Order
from provisioner.services.rollouts import RolloutDesk
from tests.api.site import Site, running_site
from tests.api.test_rollouts import CLASS, NODES, blue_and_green

FOLLOWS = default_pool(CLASS).model_copy(
    update={"floor": Floor(percent=50), "follow": FollowSettings(channel="production", hold="1s")}
)


class OneChannel:
    """`Channels` with one pointer, that a test moves."""

    def __init__(self, pointer: Pointer) -> None:
        self.now = pointer

    async def current(self, channel: str, hardware_class: str) -> ReleaseDigest | None:
        return self.now.release

    async def pointers(self) -> Sequence[Pointer]:
        return (self.now,)

    async def pointer(self, channel: Channel, hardware_class: str) -> Pointer | None:
        return self.now if (channel, hardware_class) == (self.now.channel, self.now.hardware_class) else None

    async def history(self, channel: Channel, hardware_class: str) -> Sequence[Movement]:
        return ()

    async def roll_back(self, seen: Pointer, movement: Movement, *, audit: AuditEntry) -> bool:
        raise AssertionError("nobody rolls back here")


@pytest.fixture
def site(tmp_path: Path, key_cipher: Cipher) -> Iterator[Site]:
    with running_site(tmp_path, key_cipher, NODES) as running:
        yield running


@pytest.fixture
def channels(site: Site) -> OneChannel:
    """Production names green; every node runs blue."""
    _, green = blue_and_green(site)
    since = site.service.world.clock.now() - timedelta(hours=1)
    return OneChannel(Pointer(Channel.PRODUCTION, CLASS, ReleaseDigest(green.digest), 1, since, "ann"))


def follower(site: Site, channels: OneChannel, pool: PoolSettings = FOLLOWS) -> Follower:
    return Follower(site.service.world, site.store.rollouts, channels, {"pool": pool})


def state_of(site: Site, name: str) -> RolloutState:
    return site.run(site.store.rollouts.get(name)).rollout.state


def test_who_was_killed_between_any_two_parts_of_it_is_gone_on_for(site: Site, channels: OneChannel) -> None:
    desk = RolloutDesk(site.service.world, site.store.rollouts, {"pool": FOLLOWS})
    order = Order(name="pool-production-1", pool="pool", release=channels.now.release)
    site.run(desk.create(order, "policy of pool pool"))
    site.run(desk.approve(order.name, "policy of pool pool"))
    site.run(follower(site, channels).look())
    assert state_of(site, order.name) is RolloutState.RUNNING


def test_what_became_of_it_is_left_alone_and_another_move_starts_another(site: Site, channels: OneChannel) -> None:
    follows = follower(site, channels)
    site.run(follows.look())
    desk = RolloutDesk(site.service.world, site.store.rollouts, {"pool": FOLLOWS})
    site.run(desk.abort("pool-production-1", "ann"))
    for again in (follows, follower(site, channels)):
        site.run(again.look())
        assert state_of(site, "pool-production-1") is RolloutState.ABORTED
    channels.now = replace(channels.now, revision=2)
    site.run(follows.look())
    assert state_of(site, "pool-production-2") is RolloutState.RUNNING


def test_nodes_that_are_not_of_the_pool_do_not_matter(site: Site, channels: OneChannel) -> None:
    """Its own nodes run green already; the others of their class belong to somebody else."""
    node = site.run(site.store.nodes.all())[0]
    site.run(site.store.nodes.assign(node.name, CLASS, channels.now.release))
    own = FOLLOWS.model_copy(update={"nodes": (node.name,)})
    site.run(follower(site, channels, own).look())
    assert site.run(site.store.rollouts.unended()) == []
