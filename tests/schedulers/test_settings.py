"""Schedulers in site.yaml: every mistake is told with file, line, field and remedy; secrets stay in files."""

from pathlib import Path

import pytest

from provisioner.errors import BadInput, SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.schedulers.factory import scheduler_for
from provisioner.schedulers.kubernetes import Kubernetes
from provisioner.schedulers.none import NoScheduler
from provisioner.schedulers.settings import SlurmrestdSettings
from provisioner.schedulers.slurm import Slurm
from provisioner.settings import Environment, Site, load_site
from tests.schedulers.site import Later

WRONG = """\
name: hall-3
schedulers:
  a: {kind: slurrm}
  b: {kind: slurmrestd, url: "ftp://x", user: root}
  c: {kind: kubernetes, node_name: node, timeout: 1ms}
  d: {conf: slurm.conf}
  e: {kind: none, url: "http://x"}
pools:
  p: {hardware_class: hgx-h100-8gpu, scheduler: z}
"""
RIGHT = """\
name: hall-3
schedulers:
  a: {kind: slurm, conf: slurm.conf, node_name: "{node}.hall-3", timeout: 10s}
  b: {kind: slurmrestd, url: "http://127.0.0.1:6820/", user: slurm, token_file: token}
  c: {kind: kubernetes, kubeconfig: kube.yaml}
  d: {kind: none}
pools:
  p: {hardware_class: hgx-h100-8gpu, scheduler: a}
"""
KUBECONFIG = """\
current-context: hall
contexts: [{name: hall, context: {cluster: one, user: me}}]
clusters: [{name: one, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {token: very-secret}}]
"""


def load(folder: Path, text: str) -> Site:
    (folder / "site.yaml").write_text(text)
    return load_site(folder / "site.yaml", Environment())


def test_every_mistake_names_its_field(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        load(tmp_path, WRONG)
    said = str(error.value)
    for line, field in (
        (3, "schedulers.a.kind: 'slurrm' is no kind"),
        (4, "schedulers.b.url"),
        (4, "schedulers.b.token_file: is missing"),
        (5, "schedulers.c.node_name"),
        (5, "schedulers.c.timeout"),
        (6, "schedulers.d.kind: is missing"),
        (7, "schedulers.e.url: is not a known key"),
    ):
        assert f"site.yaml:{line}: {field}" in said, said


def test_a_pool_names_a_scheduler_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"pools\.p\.scheduler: 'b' is not under schedulers, but a"):
        load(
            tmp_path,
            RIGHT.replace("scheduler: a}", "scheduler: b}").replace("  b: {kind: slurmr", "  x: {kind: slurmr"),
        )


async def test_each_kind_becomes_its_scheduler(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("SLURM_JWT=a.b.c\n")
    (tmp_path / "kube.yaml").write_text(KUBECONFIG)
    site = load(tmp_path, RIGHT)
    made = {name: scheduler_for(settings, Later()) for name, settings in site.schedulers.items()}
    kinds = {name: type(scheduler) for name, scheduler in made.items()}
    assert kinds == {"a": Slurm, "b": Slurm, "c": Kubernetes, "d": NoScheduler}
    with pytest.raises(SchedulerError, match=r"127\.0\.0\.1:1") as away:
        await made["c"].look([NodeName("n0")])
    assert "very-secret" not in str(away.value)
    for scheduler in made.values():
        await scheduler.close()


@pytest.mark.parametrize("content", [None, "", "two words"])
def test_a_token_file_without_a_token_is_told_at_once(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    settings = SlurmrestdSettings(kind="slurmrestd", url="http://127.0.0.1:1", user="slurm", token_file=file)
    with pytest.raises(BadInput, match="token_file: ") as error:
        scheduler_for(settings, Later())
    assert "two words" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("current-context: hall", "current-context: hal", "contexts: 'hal' is not there, but hall"),
        ('server: "http://127.0.0.1:1"', "proxy: x", "server is missing"),
        ("token: very-secret", "exec: {command: aws}", "exec and auth-provider are not supported"),
        ("token: very-secret", "tokenFile: gone", "gone"),
        ('server: "http://127.0.0.1:1"', 'server: "https://x", certificate-authority-data: "?"', "is no base64"),
        ('server: "http://127.0.0.1:1"', 'server: "https://x", certificate-authority-data: "aGk="', "must be PEM"),
        ('server: "http://127.0.0.1:1"', 'server: "https://x", insecure-skip-tls-verify: true', "gives the token"),
        ("users: [{", "users: [", "is no YAML in line 4"),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_says_where(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "token").write_text("x")
    (tmp_path / "kube.yaml").write_text(KUBECONFIG.replace(old, new))
    settings = load(tmp_path, RIGHT).schedulers["c"]
    with pytest.raises((BadInput, SchedulerError), match=said) as error:
        await scheduler_for(settings, Later()).look([NodeName("n0")])
    assert "very-secret" not in str(error.value)
