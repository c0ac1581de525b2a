"""A real Slurm on loopback from Debian's packages: controller, REST daemon, and several slurmd on this one host."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.images.processes import wait
from tests.requirements import need

NODES = ("n0", "n1", "n2")
_PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmrestd", "scontrol")
_SBIN = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_JWT = "*/slurm-wlm/auth_jwt.so"

_CONF = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={folder}/jwt.key
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/d/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
RebootProgram=/bin/true
MailProg=/bin/true
KillWait=1
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
NodeName=DEFAULT CPUs=1 State=UNKNOWN Feature=h100
NodeName=n[0-2] NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]},{ports[3]},{ports[4]}
PartitionName=p Nodes=ALL Default=YES State=UP
"""


@dataclass
class Cluster:
    """A running one."""

    folder: Path
    rest_port: int
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"SLURM_CONF": str(self.conf), "PATH": _SBIN}

    def run(self, *command: str) -> str:
        """As a person would, at a terminal; what it writes."""
        ran = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, (command, ran.stderr)
        return ran.stdout.strip()

    def start(self, name: str, *command: str, environment: dict[str, str] | None = None) -> None:
        """A daemon that ends with this test process."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig=KILL", "--", *command],
                env=self.environment | (environment or {}),
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def stop(self, name: str) -> None:
        """One of them."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start_controller(self) -> None:
        """It has its state from its folder."""
        self.start("slurmctld", "slurmctld", "-D")
        wait(lambda: "UP" in self.run_loosely("scontrol", "ping"), 60)

    def start_node(self, node: str, *options: str) -> None:
        """`-b`: it says that it has booted."""
        (self.folder / "d" / node).mkdir(parents=True, exist_ok=True)
        self.start(node, "slurmd", "-D", "-N", node, *options)

    def run_loosely(self, *command: str) -> str:
        """What it writes, whether it worked or not."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def token(self, seconds: int = 3600) -> str:
        """For slurmrestd."""
        return self.run("scontrol", "token", f"lifespan={seconds}").removeprefix("SLURM_JWT=")

    def state(self, node: str) -> str:
        """As `scontrol show node` writes it, such as IDLE+DRAIN."""
        text = self.run("scontrol", "show", "node", node)
        return text.partition("State=")[2].split()[0]

    def submit(self, node: str, command: str = "exec sleep 600", *options: str) -> str:
        """A batch job on this node; its id."""
        script = ["--wrap", command, "--output=/dev/null", "--export=NONE", f"--nodelist={node}"]
        return self.run("sbatch", "--parsable", *options, *script)

    def job_state(self, job: str) -> str:
        """Such as RUNNING, or empty when it is forgotten."""
        return self.run_loosely("squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={job}").strip()

    def start_job(self, node: str, command: str = "exec sleep 600", *options: str) -> str:
        """One that runs."""
        job = self.submit(node, command, *options)
        wait(lambda: self.job_state(job) == "RUNNING", 60)
        return job

    def clear(self) -> None:
        """No job, every node as at first."""
        jobs = self.run("squeue", "--noheader", "--format=%A").split()
        if jobs:
            self.run("scancel", "--signal=KILL", "--full", *jobs)
            self.run("scancel", *jobs)
            wait(lambda: not self.run("squeue", "--noheader", "--format=%A"), 60)
        for node in NODES:
            if node not in self.processes:
                self.start_node(node)
            self.run("scontrol", "update", f"nodename={node}", "availablefeatures=h100", "activefeatures=h100")
        wait(lambda: all(self._is_idle(node) for node in NODES), 90)

    def _is_idle(self, node: str) -> bool:
        if self.state(node) == "IDLE":
            return True
        self.run_loosely("scontrol", "update", f"nodename={node}", "state=resume")
        return self.state(node) == "IDLE"


@contextlib.contextmanager
def slurm_cluster() -> Iterator[Cluster]:
    """Start one, and end every process of it."""
    for program in _PROGRAMS:
        need(shutil.which(program, path=_SBIN), f"{program} is not installed: see tests/debian-packages.txt")
    need(os.geteuid() == 0, "Slurm's daemons need root")
    need(any(Path("/usr/lib").glob(_JWT)), "auth_jwt.so is not installed: see tests/debian-packages.txt")
    folder = Path(tempfile.mkdtemp(prefix="firstlight-slurm-"))
    folder.chmod(0o755)
    ports = _free_ports(6)
    cluster = Cluster(folder, ports[5])
    try:
        _configure(cluster, ports)
        _start(cluster)
        cluster.clear()
        yield cluster
    finally:
        _end(cluster)
        shutil.rmtree(folder, ignore_errors=True)


def _configure(cluster: Cluster, ports: list[int]) -> None:
    folder, host = cluster.folder, socket.gethostname().split(".")[0]
    for name in ("munge", "ctld", "d"):
        (folder / name).mkdir()
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    for path in (folder / "munge", key):
        shutil.chown(path, "munge", "munge")
    (folder / "munge").chmod(0o711)
    (folder / "jwt.key").write_bytes(os.urandom(32))
    (folder / "jwt.key").chmod(0o600)
    cluster.conf.write_text(_CONF.format(folder=folder, host=host, ports=ports))


def _start(cluster: Cluster) -> None:
    munge = cluster.folder / "munge"
    files = [f"--{name}={munge / word}" for name, word in _MUNGE_FILES.items()]
    cluster.start("munged", *_as("munge"), "munged", "--foreground", *files)
    wait((munge / "socket").exists, 30)
    cluster.start_controller()
    for node in NODES:
        cluster.start_node(node)
    address = f"127.0.0.1:{cluster.rest_port}"
    rest = ["slurmrestd", "-s", "openapi/v0.0.38", "-a", "rest_auth/jwt", address]
    cluster.start("slurmrestd", *_as("nobody"), *rest, environment={"SLURM_JWT": "daemon"})


_MUNGE_FILES = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}


def _as(user: str) -> list[str]:
    group = "nogroup" if user == "nobody" else user
    return ["setpriv", "--pdeathsig=KILL", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--"]


def _end(cluster: Cluster) -> None:
    """Daemons by their ids; then what they started, which has our slurm.conf in its environment."""
    for name in tuple(cluster.processes):
        cluster.stop(name)
    ours = f"SLURM_CONF={cluster.conf}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if ours in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
