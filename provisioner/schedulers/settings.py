"""`schedulers` in site.yaml: who places jobs on the nodes of which pools."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from profiles.fields import Duration, Profile, Text
from profiles.problems import Problem, refuse, refuse_if_any

_PLACE = "{node}"


def _holds_the_node(pattern: str) -> str:
    if pattern.count(_PLACE) != 1:
        raise refuse(f"{pattern!r} does not hold {_PLACE} once", 'write it such as "{node}.hall-3.example"')
    return pattern


def _bounded(timeout: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= timeout <= timedelta(minutes=10):
        raise refuse("is not between 1s and 10m", "30s is usual")
    return timeout


Timeout = Annotated[Duration, AfterValidator(_bounded)]
NodePattern = Annotated[Text, AfterValidator(_holds_the_node)]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[A-Za-z0-9._~%:\[\]/-]+$", max_length=200)]
SlurmUser = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$", max_length=64)]


class _Scheduler(Profile):
    """What all kinds share. `node_name`: how it calls a node; `{node}` is our name of it."""

    node_name: NodePattern = _PLACE
    timeout: Timeout = Field(default="30s", validate_default=True)


class SlurmSettings(_Scheduler):
    """Slurm by its commands, on this host. `conf`: slurm.conf, where it is not in its usual place."""

    kind: Literal["slurm"]
    conf: Path | None = None


class SlurmrestdSettings(_Scheduler):
    """Slurm by slurmrestd. `token_file`: a token (JWT) of `user`, from `scontrol token`; it may be replaced any time.

    `ca_file`: whose certificates are believed, where the host's own are not enough.
    """

    kind: Literal["slurmrestd"]
    url: Url
    user: SlurmUser
    token_file: Path
    ca_file: Path | None = None


class KubernetesSettings(_Scheduler):
    """Kubernetes. Without a `kubeconfig`, the cluster in which this service runs as a pod."""

    kind: Literal["kubernetes"]
    kubeconfig: Path | None = None
    context: Text | None = None


class NoSchedulerSettings(Profile):
    """Nobody places jobs there."""

    kind: Literal["none"]


_KINDS = ("slurm", "slurmrestd", "kubernetes", "none")


def _has_a_kind(value: Any) -> Any:
    """Which fields there may be depends on it, so it is looked at first."""
    if isinstance(value, Mapping) and value.get("kind") not in _KINDS:
        kind = value.get("kind")
        message = "is missing" if kind is None else f"{kind!r} is no kind of scheduler"
        refuse_if_any([Problem(("kind",), message, f"write one of {', '.join(_KINDS)}")])
    return value


SchedulerSettings = Annotated[
    Annotated[
        SlurmSettings | SlurmrestdSettings | KubernetesSettings | NoSchedulerSettings, Field(discriminator="kind")
    ],
    BeforeValidator(_has_a_kind),
]


def below(settings: SchedulerSettings, folder: Path) -> SchedulerSettings:
    """The same, with relative paths taken from `folder`."""
    paths = {
        name: folder / path
        for name in ("conf", "token_file", "ca_file", "kubeconfig")
        if (path := getattr(settings, name, None)) is not None
    }
    return settings.model_copy(update=paths)
