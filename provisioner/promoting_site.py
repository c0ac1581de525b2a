"""Puts together what promotions of one site are decided by; a part of the wiring."""

from profiles.compat.load import load_facts
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.channel_settings import policies_of
from provisioner.release_shelf import ReleaseShelf, artefacts_in
from provisioner.settings import Site
from provisioner.statement_shelf import Keys, StatementShelf, read_keys
from provisioner.store.opening import Store


def promotion_world(site: Site, store: Store, shelf: ReleaseShelf) -> PromotionWorld:
    """Everything of it. Raises `BadInput` as `keys_of`."""
    return PromotionWorld(
        promotions=store.promotions,
        channels=store.channels,
        soaks=store.soaks,
        releases=store.release_records,
        statements=StatementShelf(artefacts_in(site.data_dir), keys_of(site)),
        stops=store.rollouts,
        policies=policies_of(site.channels, site.freezes),
        compatibility=load_facts(),
        images=shelf,
    )


def keys_of(site: Site) -> Keys | None:
    """Whose signatures count; None: nobody's. Raises `BadInput` where they cannot be read."""
    return read_keys(site.trust.keys, site.trust.decisions) if site.trust else None
