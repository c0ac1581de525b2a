"""The whole store."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import BadInput
from provisioner.store.audit import SqlAudit
from provisioner.store.bmc_records import SqlLoginFailures, SqlPinnedCertificates, SqlWriteLeases
from provisioner.store.boots import SqlBoots
from provisioner.store.burn_ins import SqlBurnIns
from provisioner.store.campaigns import SqlCampaigns
from provisioner.store.channels import SqlChannels
from provisioner.store.cipher_check import check_cipher
from provisioner.store.database import Database, no_one
from provisioner.store.documents import SqlDocuments
from provisioner.store.drift import SqlDrift
from provisioner.store.events import SqlEvents
from provisioner.store.found_bmcs import SqlFoundBmcs
from provisioner.store.found_hosts import SqlHosts
from provisioner.store.long_operations import SqlOperations
from provisioner.store.migrate import migrate
from provisioner.store.nodes import SqlNodes
from provisioner.store.promotions import SqlPromotions
from provisioner.store.release_records import SqlReleaseRecords
from provisioner.store.request_claims import SqlRequestClaims
from provisioner.store.rollouts import SqlRollouts
from provisioner.store.soaks import SqlSoaks
from provisioner.store.tokens import SqlTokens
from provisioner.store.turns import SqlTurns
from provisioner.store.update_journal import SqlUpdateJournal
from provisioner.store.urls import database_url
from provisioner.store.vault import SqlVault
from provisioner.store.webhooks import SqlWebhooks


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that we remember, one object per concern."""

    database: Database
    nodes: SqlNodes
    events: SqlEvents
    documents: SqlDocuments
    vault: SqlVault
    boots: SqlBoots
    burn_ins: SqlBurnIns
    journal: SqlUpdateJournal
    logins: SqlLoginFailures
    certificates: SqlPinnedCertificates
    leases: SqlWriteLeases
    found_bmcs: SqlFoundBmcs
    hosts: SqlHosts
    tokens: SqlTokens
    campaigns: SqlCampaigns
    drift: SqlDrift
    rollouts: SqlRollouts
    turns: SqlTurns
    audit: SqlAudit
    claims: SqlRequestClaims
    operations: SqlOperations
    webhooks: SqlWebhooks
    channels: SqlChannels
    promotions: SqlPromotions
    soaks: SqlSoaks
    release_records: SqlReleaseRecords

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        self.database.close()


def open_store(url: str, cipher: Cipher, on_change: Callable[[], None] = no_one) -> Store:
    """Connect, migrate, and check that the key file belongs to the database; blocks.

    `on_change` is called after a commit that changed nodes or events, in the thread of the event loop that asked for
    it: with several loops it must be safe to call from each. Raises `BadInput`.
    """
    address = database_url(url)
    database = Database(address, on_change)
    try:
        migrate(database.writer)
        with database.writer.begin() as connection:
            check_cipher(connection, cipher)
    except DBAPIError as error:
        database.close()
        raise BadInput(f"{address.render_as_string()}: cannot use the database: {error.orig}") from error
    except BadInput:
        database.close()
        raise
    return _of(database, cipher)


def _of(database: Database, cipher: Cipher) -> Store:
    return Store(
        database=database,
        nodes=SqlNodes(database),
        events=SqlEvents(database),
        documents=SqlDocuments(database),
        vault=SqlVault(database, cipher),
        boots=SqlBoots(database, cipher),
        burn_ins=SqlBurnIns(database),
        journal=SqlUpdateJournal(database),
        logins=SqlLoginFailures(database),
        certificates=SqlPinnedCertificates(database),
        leases=SqlWriteLeases(database),
        found_bmcs=SqlFoundBmcs(database),
        hosts=SqlHosts(database),
        tokens=SqlTokens(database),
        campaigns=SqlCampaigns(database),
        drift=SqlDrift(database),
        rollouts=SqlRollouts(database),
        turns=SqlTurns(database),
        audit=SqlAudit(database),
        claims=SqlRequestClaims(database, cipher),
        operations=SqlOperations(database),
        webhooks=SqlWebhooks(database, cipher),
        channels=SqlChannels(database),
        promotions=SqlPromotions(database),
        soaks=SqlSoaks(database),
        release_records=SqlReleaseRecords(database),
    )
