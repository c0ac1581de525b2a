"""Who submits jobs to Slurm and drains its nodes, by its own commands."""

from provisioner.models.identifiers import NodeName
from tests.schedulers.slurm_cluster import Cluster


class SlurmPeople:
    """`People` of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def start_job(self, node: NodeName) -> str:
        return self._cluster.start_job(node)

    def start_stubborn_job(self, node: NodeName) -> str:
        """It may not be put back into the queue, and takes no notice of the signal."""
        return self._cluster.start_job(node, "trap '' USR1; sleep 600 & while true; do wait; done", "--no-requeue")

    def ease(self, job: str) -> None:
        self._cluster.run("scontrol", "update", f"jobid={job}", "requeue=1")

    def end_job(self, job: str) -> None:
        self._cluster.run("scancel", job)

    def cordon(self, node: NodeName, why: str) -> None:
        self._cluster.run("scontrol", "update", f"nodename={node}", "state=drain", f"reason={why}")

    def lift(self, node: NodeName) -> None:
        self._cluster.run("scontrol", "update", f"nodename={node}", "state=resume")

    def give_label(self, node: NodeName, label: str) -> None:
        words = f"h100,{label}"
        self._cluster.run(
            "scontrol", "update", f"nodename={node}", f"availablefeatures={words}", f"activefeatures={words}"
        )
