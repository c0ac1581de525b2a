"""Everything outside that an operation may touch."""

from dataclasses import dataclass, field

from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.clock import Awake, Clock
from provisioner.capabilities.found_hosts import Hosts
from provisioner.capabilities.login_failures import LoginFailures, PinnedCertificates
from provisioner.capabilities.records import Boots, BurnIns, Documents, Events, Nodes, Vault
from provisioner.capabilities.releases import Artefacts, Releases
from provisioner.capabilities.update_journal import UpdateJournal
from provisioner.pulls import Pulls


@dataclass(frozen=True, slots=True)
class World:
    """One concern per field; `wiring` knows what stands behind each."""

    clock: Clock
    nodes: Nodes
    events: Events
    documents: Documents
    vault: Vault
    boots: Boots
    burn_ins: BurnIns
    journal: UpdateJournal
    logins: LoginFailures
    certificates: PinnedCertificates
    bmcs: Bmcs
    hosts: Hosts
    releases: Releases
    artefacts: Artefacts
    public_url: str
    """Where nodes and BMCs reach this service, without a slash at the end."""
    awake: Awake
    pulls: Pulls = field(default_factory=Pulls)
    """Which BMC has fetched which package from this process."""
