"""What the API needs of a running service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from profiles.catalog import Catalog
from profiles.loader import SHIPPED
from provisioner.capabilities.audit import Audit
from provisioner.capabilities.campaigns import Campaigns
from provisioner.capabilities.channels import Channels
from provisioner.capabilities.drift import Drift
from provisioner.capabilities.found_bmcs import FoundBmcs
from provisioner.capabilities.operations import Operations
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.request_claims import RequestClaims
from provisioner.capabilities.rollouts import Rollouts, Turns
from provisioner.capabilities.runs import Runs
from provisioner.capabilities.tokens import Tokens
from provisioner.capabilities.webhooks import Webhooks
from provisioner.capabilities.world import World
from provisioner.pool_settings import PoolSettings
from provisioner.upload_limit import UploadLimit, unlimited


class Changes(Protocol):
    """Tells waiting listeners that nodes or events have changed."""

    async def wait(self, timeout: float) -> bool:
        """Wait for the next change (True), at most `timeout` real seconds (False)."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """One running site."""

    site: str
    world: World
    runs: Runs
    tokens: Tokens
    claims: RequestClaims
    operations: Operations
    webhooks: Webhooks
    changes: Changes
    found: FoundBmcs
    campaigns: Campaigns
    drift: Drift
    rollouts: Rollouts
    turns: Turns
    channels: Channels
    pools: Mapping[str, PoolSettings]
    """By name; see `site.yaml`."""
    audit: Audit
    promotion: PromotionWorld
    catalog: Catalog
    """Profiles by name."""
    requests_per_second: int = 50
    """Of each holder of a token, in one process; ten times as many at once."""
    downloads: int = 64
    """Large files that one process sends at once."""
    uploads: UploadLimit = field(default_factory=unlimited)
    """How fast firmware packages leave this process."""
    profiles: Path = SHIPPED
    """The folder of the profiles."""
    packages: frozenset[str] = frozenset()
    """Digests of the artefacts that are firmware packages."""
