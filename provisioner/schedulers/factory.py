"""From the settings of a scheduler to the scheduler."""

import ssl
from collections.abc import Mapping
from pathlib import Path

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.scheduler import Scheduler
from provisioner.errors import BadInput
from provisioner.models.secret import Secret
from provisioner.schedulers.kubeconfig import read_access
from provisioner.schedulers.kubernetes import Kubernetes
from provisioner.schedulers.kubernetes_api import KubernetesApi
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.none import NoScheduler
from provisioner.schedulers.settings import (
    KubernetesSettings,
    NoSchedulerSettings,
    SchedulerSettings,
    SlurmrestdSettings,
    SlurmSettings,
)
from provisioner.schedulers.slurm import Slurm
from provisioner.schedulers.slurm_scontrol import Commands
from provisioner.schedulers.slurmrestd import Rest
from provisioner.schedulers.web import Web


def scheduler_for(settings: SchedulerSettings, clock: Clock) -> Scheduler:
    """Connects to nothing yet. Raises `BadInput` where a file that it names cannot be used."""
    match settings:
        case SlurmSettings():
            return Slurm(Commands(settings.conf, settings.timeout), clock, NodeNames(settings.node_name))
        case SlurmrestdSettings():
            return _slurmrestd(settings, clock)
        case KubernetesSettings():
            return _kubernetes(settings, clock)
        case NoSchedulerSettings():
            return NoScheduler()


def _slurmrestd(settings: SlurmrestdSettings, clock: Clock) -> Scheduler:
    tls = None
    if settings.url.startswith("https://"):
        try:
            tls = ssl.create_default_context(cafile=settings.ca_file)
        except OSError as error:
            raise BadInput(f"ca_file: {settings.ca_file} cannot be used: {error}; name a file of PEM") from error
    _token(settings.token_file)

    def headers() -> Mapping[str, str]:
        token = _token(settings.token_file).reveal()
        return {"X-SLURM-USER-NAME": settings.user, "X-SLURM-USER-TOKEN": token}

    web = Web("slurmrestd", settings.url.rstrip("/"), tls=tls, headers=headers, timeout=settings.timeout)
    return Slurm(Rest(web), clock, NodeNames(settings.node_name))


def _kubernetes(settings: KubernetesSettings, clock: Clock) -> Scheduler:
    access = read_access(settings.kubeconfig, settings.context)

    def headers() -> Mapping[str, str]:
        token = access.token()
        return {} if token is None else {"Authorization": f"Bearer {token.reveal()}"}

    web = Web("kubernetes", access.server, tls=access.tls, headers=headers, timeout=settings.timeout)
    return Kubernetes(KubernetesApi(web), clock, NodeNames(settings.node_name))


def _token(path: Path) -> Secret:
    """As `scontrol token` prints it, or the token alone."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"token_file: {path} cannot be read: {error}; scontrol token writes one") from error
    if not text or any(letter.isspace() for letter in text):
        raise BadInput(f"token_file: {path} holds no token; write there what scontrol token prints")
    return Secret(text.removeprefix("SLURM_JWT="))
