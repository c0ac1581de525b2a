"""Every table, in the order in which they may be made."""

from sqlalchemy import MetaData

from provisioner.store.audit import AUDIT
from provisioner.store.bmc_records import CERTIFICATES, LEASES, LOGIN_FAILURES
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.burn_ins import HEARTBEATS, RESULTS, RUNS
from provisioner.store.campaign_tables import CAMPAIGN_LINES, CAMPAIGN_MEMBERS, CAMPAIGNS
from provisioner.store.channel_tables import CHANNELS, MOVEMENTS
from provisioner.store.cipher_check import CIPHER_CHECK
from provisioner.store.documents import INVENTORIES, PROGRESS, RELEASES
from provisioner.store.drift import DRIFT_FINDINGS, DRIFT_TURN, FIRMWARE_READINGS
from provisioner.store.events import EVENTS
from provisioner.store.found_bmcs import FOUND_BMCS, LAST_SCAN
from provisioner.store.found_hosts import FOUND_HOSTS
from provisioner.store.long_operations import OPERATIONS
from provisioner.store.metadata import METADATA
from provisioner.store.node_macs import NODE_MACS
from provisioner.store.node_table import NODES
from provisioner.store.promotion_tables import NODE_SOAKS, PROMOTION_LINES, PROMOTIONS, SOAK_TURN, SOAKS
from provisioner.store.request_claims import REQUEST_CLAIMS
from provisioner.store.rollout_tables import (
    REJECTED,
    ROLLOUT_LINES,
    ROLLOUT_NODES,
    ROLLOUT_UNITS,
    ROLLOUTS,
    TURNS,
)
from provisioner.store.tokens import TOKENS
from provisioner.store.update_journal import UPDATES
from provisioner.store.vault import VAULT
from provisioner.store.webhooks import DEAD_LETTERS, WEBHOOKS

TABLES = (
    NODES,
    EVENTS,
    INVENTORIES,
    NODE_MACS,
    PROGRESS,
    RELEASES,
    VAULT,
    BOOT_TICKETS,
    RUNS,
    RESULTS,
    HEARTBEATS,
    UPDATES,
    LOGIN_FAILURES,
    CERTIFICATES,
    LEASES,
    FOUND_BMCS,
    LAST_SCAN,
    FOUND_HOSTS,
    TOKENS,
    CIPHER_CHECK,
    CAMPAIGNS,
    CAMPAIGN_MEMBERS,
    CAMPAIGN_LINES,
    FIRMWARE_READINGS,
    DRIFT_FINDINGS,
    DRIFT_TURN,
    AUDIT,
    REQUEST_CLAIMS,
    OPERATIONS,
    WEBHOOKS,
    DEAD_LETTERS,
    ROLLOUTS,
    ROLLOUT_UNITS,
    ROLLOUT_NODES,
    ROLLOUT_LINES,
    REJECTED,
    TURNS,
    CHANNELS,
    MOVEMENTS,
    PROMOTIONS,
    PROMOTION_LINES,
    SOAKS,
    NODE_SOAKS,
    SOAK_TURN,
)


def schema() -> MetaData:
    """The metadata with all of `TABLES` in it."""
    return METADATA
