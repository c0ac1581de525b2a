"""The configuration of one site: `site.yaml`, and what the environment overrides."""

from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from profiles.fields import Duration, Name, Number, Profile, Text, Whole
from profiles.findings import ProfileError
from profiles.validation import validate
from profiles.yaml_source import read_yaml
from provisioner.errors import BadInput
from provisioner.models.secret import Secret

Port = Annotated[Whole, Field(ge=1, le=65535)]


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

    ranges: tuple[IPv4Network | IPv6Network, ...] = ()
    port: Port = 443
    ssdp: bool = False
    every: Duration = Field(default="15m", validate_default=True)


class TlsSettings(Profile):
    """`ca_file` belongs to policy `ca`."""

    policy: TlsChoice = TlsChoice.PIN
    ca_file: Path | None = None


class Limits(Profile):
    """How much at once. `per_rack`: nodes of one rack that flash, reset or boot."""

    per_rack: Annotated[Whole, Field(ge=1, le=1000)] = 4
    requests_per_bmc: Annotated[Whole, Field(ge=1, le=8)] = 2
    requests_per_site: Annotated[Whole, Field(ge=1, le=100_000)] = 1000
    workers: Annotated[Whole, Field(ge=1, le=64, description="slots for worker processes on PostgreSQL")] = 8


class Site(Profile):
    """site.yaml. Relative paths are relative to the file."""

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
    releases: dict[Name, Name] = Field(default_factory=dict)
    speed: Annotated[
        Number, Field(ge=0, le=10_000, description="1 for hardware; emulated seconds per second; 0: no waiting")
    ] = 1

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
    for field in ("expected", "profiles", "firmware_dir"):
        if (value := getattr(site, field)) is not None:
            changes[field] = folder / value
    if env.database_url is not None:
        changes["database_url"] = env.database_url
    return site.model_copy(update=changes)
