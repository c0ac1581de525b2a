"""The configuration of one site: `site.yaml`, and what the environment overrides."""

from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from profiles.fields import Duration, Name, Number, Profile, Text, Whole
from profiles.findings import ProfileError
from profiles.problems import Problem, refuse, refuse_if_any
from profiles.validation import validate
from profiles.yaml_source import read_yaml
from provisioner.channel_settings import ChannelSettings, FreezeSettings, Trust
from provisioner.discovery.scan import LARGEST
from provisioner.errors import BadInput
from provisioner.models.channel import Channel
from provisioner.models.secret import Secret
from provisioner.network_boot.settings import NetworkBoot, SigningKey
from provisioner.pool_settings import PoolSettings
from provisioner.schedulers.settings import SchedulerSettings
from provisioner.schedulers.settings import below as scheduler_below

_SMALLER = "name smaller ranges, such as 10.0.0.0/16"


def _network(value: Any) -> IPv4Network | IPv6Network:
    """A range of addresses that can be scanned in minutes."""
    try:
        address = ip_interface(value) if isinstance(value, str) else None
    except ValueError:
        address = None
    if address is None:
        raise refuse(f"{value!r} is no range of addresses", "write it such as 10.0.1.0/24")
    if address.ip != address.network.network_address:
        whole = f"write {address.network} for the whole range, or {address.ip} for the one address"
        raise refuse(f"{value} has host bits set", whole)
    if address.network.num_addresses > LARGEST:
        raise refuse(f"{value} holds more than {LARGEST:,} addresses, too many to scan", _SMALLER)
    if address.is_multicast or address.is_unspecified:
        raise refuse(f"{value} is not where BMCs are", "write the range of the BMCs, such as 10.0.1.0/24")
    return ip_network(value)


def _not_all_the_time(every: timedelta) -> timedelta:
    if every < timedelta(seconds=1):
        raise refuse("is shorter than a second", "15m is usual")
    return every


def _not_too_often(every: timedelta) -> timedelta:
    if every < timedelta(seconds=1):
        raise refuse("is shorter than a second", "1d is usual")
    return every


Port = Annotated[Whole, Field(ge=1, le=65535)]
AddressRange = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]


class TlsChoice(StrEnum):
    """How BMC certificates are judged."""

    PIN = "pin-on-first-use"
    CA = "ca"
    OFF = "off"


class Listen(Profile):
    """Where the API answers."""

    host: Text = "127.0.0.1"
    port: Port = 8410


class Discovery(Profile):
    """Where to look for BMCs beside the expected list."""

    ranges: tuple[AddressRange, ...] = ()
    port: Port = 443
    ssdp: bool = False
    every: Annotated[Duration, AfterValidator(_not_all_the_time)] = Field(default="15m", validate_default=True)

    @model_validator(mode="after")
    def _can_be_scanned(self) -> "Discovery":
        size = sum(one.num_addresses for one in self.ranges)
        if size > LARGEST:
            message = f"hold {size:,} addresses together; at most {LARGEST:,} can be scanned"
            refuse_if_any([Problem(("ranges",), message, _SMALLER)])
        return self


class TlsSettings(Profile):
    """`ca_file` belongs to policy `ca`."""

    policy: TlsChoice = TlsChoice.PIN
    ca_file: Path | None = None


class PackageSource(Profile):
    """Where packages come from: an apt repository by `uri`, or a `folder` of .deb files.

    `suites`: `{suite}` in them is the suite of the image. `keyring`: a file of OpenPGP keys; the host's own for Debian.
    """

    uri: Text | None = None
    folder: Path | None = None
    suites: tuple[Text, ...] = ("{suite}",)
    keyring: Path | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> "PackageSource":
        if (self.uri is None) == (self.folder is None):
            refuse_if_any([Problem((), "needs one of uri and folder", "write where the packages are")])
        return self

    def below(self, folder: Path) -> "PackageSource":
        """The same, with relative paths taken from `folder`."""
        paths = {name: folder / path for name in ("folder", "keyring") if (path := getattr(self, name)) is not None}
        return self.model_copy(update=paths)


class Limits(Profile):
    """How much at once. `per_rack`: nodes of one rack that flash, reset or boot.

    `upload_bytes_per_second`: of firmware packages, pushed and pulled, all together; the workers share it evenly. No
    limit where absent.
    """

    per_rack: Annotated[Whole, Field(ge=1, le=1000)] = 4
    requests_per_bmc: Annotated[Whole, Field(ge=1, le=8)] = 2
    requests_per_site: Annotated[Whole, Field(ge=1, le=100_000)] = 1000
    requests_per_token: Annotated[Whole, Field(ge=1, le=100_000, description="API requests a second of one token")] = 50
    downloads: Annotated[Whole, Field(ge=1, le=10_000, description="large files sent at once by one process")] = 64
    workers: Annotated[Whole, Field(ge=1, le=64, description="slots for worker processes on PostgreSQL")] = 8
    upload_bytes_per_second: Annotated[Whole, Field(ge=65_536, le=10**12)] | None = None


class WebhookSettings(Profile):
    """`link_local`: webhooks may be at link-local and metadata addresses, which otherwise nothing is sent to."""

    link_local: bool = False


class DriftWatch(Profile):
    """How often each node's firmware inventory is read and held against its bundle; spread evenly over that time."""

    every: Annotated[Duration, AfterValidator(_not_too_often)] = Field(default="1d", validate_default=True)


class Site(Profile):
    """site.yaml. Relative paths are relative to the file.

    `mirrors`: what `base.mirror` of image profiles names; `debian` is the build host's own apt sources where absent.
    `site_files`: the folder with the files that image profiles name by digest. `signing_keys`: what `sign_key` of image
    profiles names. `schedulers`: what `scheduler` of pools names.
    """

    name: Name
    data_dir: Path = Path("firstlight-data")
    database_url: Text | None = None
    listen: Listen = Listen()
    public_url: Text | None = None
    expected: Path | None = None
    profiles: Path | None = None
    firmware_dir: Path | None = None
    discovery: Discovery = Discovery()
    tls: TlsSettings = TlsSettings()
    limits: Limits = Limits()
    drift: DriftWatch = DriftWatch()
    webhooks: WebhookSettings = WebhookSettings()
    network_boot: NetworkBoot = NetworkBoot()
    mirrors: dict[Name, tuple[PackageSource, ...]] = Field(default_factory=dict)
    signing_keys: dict[Name, SigningKey] = Field(default_factory=dict)
    site_files: Path | None = None
    releases: dict[Name, Name] = Field(default_factory=dict)
    pools: dict[Name, PoolSettings] = Field(default_factory=dict)
    channels: dict[Channel, ChannelSettings] = Field(default_factory=dict)
    freezes: tuple[FreezeSettings, ...] = ()
    trust: Trust | None = None
    schedulers: dict[Name, SchedulerSettings] = Field(default_factory=dict)
    speed: Annotated[
        Number, Field(ge=0, le=10_000, description="1 for hardware; emulated seconds per second; 0: no waiting")
    ] = 1

    @model_validator(mode="after")
    def _pools_have_their_schedulers(self) -> "Site":
        known = ", ".join(sorted(self.schedulers)) or "nothing"
        refuse_if_any(
            Problem(
                ("pools", name, "scheduler"), f"{pool.scheduler!r} is not under schedulers, but {known}", "add it there"
            )
            for name, pool in self.pools.items()
            if pool.scheduler is not None and pool.scheduler not in self.schedulers
        )
        return self

    @property
    def url(self) -> str:
        """Where nodes, BMCs and people reach the API; no slash at the end."""
        return (self.public_url or f"http://{self.listen.host}:{self.listen.port}").rstrip("/")

    @property
    def database(self) -> str:
        """The URL of our tables."""
        return self.database_url or f"sqlite:///{self.data_dir / 'firstlight.db'}"

    @property
    def engine_database(self) -> str:
        """The URL of the engine's tables: a file of its own, or the same PostgreSQL database."""
        return self.database_url or f"sqlite:///{self.data_dir / 'engine.db'}"


class Environment(BaseSettings):
    """FIRSTLIGHT_... variables: for secrets, and for what differs between machines that share one site.yaml."""

    model_config = SettingsConfigDict(env_prefix="FIRSTLIGHT_")

    data_dir: Path | None = None
    database_url: str | None = None
    key_file: Path | None = None
    url: str | None = None
    token: str | None = Field(default=None, repr=False)

    @property
    def secret_token(self) -> Secret | None:
        """The API token for commands."""
        return Secret(self.token) if self.token else None


def load_site(path: Path, environment: Environment | None = None) -> Site:
    """Read and check site.yaml; raises `BadInput` with file, line, field and remedy of everything that is wrong."""
    try:
        site = validate(Site, read_yaml(path))
    except ProfileError as error:
        raise BadInput(str(error)) from error
    env = environment or Environment()
    folder = path.resolve().parent
    changes: dict[str, object] = {"data_dir": env.data_dir or folder / site.data_dir}
    for field in ("expected", "profiles", "firmware_dir", "site_files"):
        if (value := getattr(site, field)) is not None:
            changes[field] = folder / value
    changes["mirrors"] = {name: tuple(one.below(folder) for one in mirror) for name, mirror in site.mirrors.items()}
    changes["network_boot"] = site.network_boot.below(folder)
    if site.trust is not None:
        changes["trust"] = site.trust.below(folder)
    changes["signing_keys"] = {name: key.below(folder) for name, key in site.signing_keys.items()}
    changes["schedulers"] = {name: scheduler_below(one, folder) for name, one in site.schedulers.items()}
    if env.database_url is not None:
        changes["database_url"] = env.database_url
    return site.model_copy(update=changes)
