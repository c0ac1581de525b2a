"""What is kept of one BMC between calls: its session, its certificate, and where things are."""

from base64 import b64encode
from dataclasses import dataclass, field

from provisioner.models.inventory import FirmwareComponent
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.layout import Layout
from provisioner.redfish.session import SingleShotSession
from provisioner.redfish.snapshot import Members
from provisioner.redfish.tls import Trust


@dataclass(slots=True)
class Channel:
    """Mutable, used under the BMC's lease only. Exactly one of `token` and `basic` is set while logged in."""

    address: BmcAddress
    trust: Trust
    session: SingleShotSession = field(repr=False)
    connector: SingleShotConnector = field(repr=False)
    credentials: Credentials | None = None
    token: Secret | None = None
    session_path: str | None = None
    basic: bool = False
    must_change_password: bool = False
    """The BMC said at login that it answers nothing else before (DSP0266, 13.2.6)."""
    account_path: str | None = None
    """The account whose password it means, where it said that too."""
    layout: Layout | None = None
    places: dict[str, str | None] = field(default_factory=dict)
    """Links of services that never move while the BMC runs: service and property -> path."""
    firmware: tuple[Members, tuple[FirmwareComponent, ...]] | None = None
    """The last firmware inventory, as documents and as what they mean: most looks find it unchanged."""

    roots_of_trust: tuple[str, ...] | None = None
    """Chassis that say whether they copy firmware to a second slot; None: nobody has looked."""

    @property
    def logged_in(self) -> bool:
        """Requests carry something that the BMC accepted."""
        return self.token is not None or self.basic

    def headers(self) -> dict[str, str]:
        """What authenticates a request; the values are secret."""
        if self.token:
            return {"X-Auth-Token": self.token.reveal()}
        if self.basic and self.credentials:
            pair = f"{self.credentials.username}:{self.credentials.password.reveal()}"
            return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        return {}

    def accept(self, credentials: Credentials, token: Secret | None, session_path: str | None) -> None:
        """Logged in: with a session's token, or with basic authentication when there is none."""
        self.credentials, self.token, self.session_path = credentials, token, session_path
        self.basic = token is None
        self.session.headers = self.headers()

    def forget(self) -> None:
        """The BMC knows the session no more, or we do not want it any more."""
        self.token = self.session_path = self.account_path = self.layout = None
        self.basic = self.must_change_password = False
        self.roots_of_trust = None
        self.places.clear()
        self.session.headers = {}

    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any message."""
        known = [self.token, self.credentials.password if self.credentials else None]
        return tuple(secret.reveal() for secret in known if secret)
