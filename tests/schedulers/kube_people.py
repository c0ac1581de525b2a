"""Who starts pods and cordons nodes with kubectl."""

from provisioner.models.identifiers import NodeName
from tests.schedulers.kube_objects import Budget, new_pod
from tests.schedulers.kube_server import KubeServer


class KubePeople:
    """`People` of a cluster."""

    def __init__(self, server: KubeServer) -> None:
        self._server = server

    def start_job(self, node: NodeName) -> str:
        return self._server.add_pod(new_pod(node))

    def start_stubborn_job(self, node: NodeName) -> str:
        """A budget protects it."""
        self._server.budgets.append(Budget("keep-web", "web", 1))
        return self._server.add_pod(new_pod(node, "ReplicaSet", "web", "Always"))

    def ease(self, job: str) -> None:
        del job
        self._server.budgets.clear()

    def end_job(self, job: str) -> None:
        self._server.pods[job]["status"]["phase"] = "Succeeded"

    def cordon(self, node: NodeName, why: str) -> None:
        """`why` is told nowhere: kubectl cordon has no word for it."""
        del why
        found = self._server.nodes[node]
        found["spec"]["unschedulable"] = True
        fields: dict[str, object] = {"f:spec": {"f:unschedulable": {}}}
        found["metadata"]["managedFields"] = [{"manager": "kubectl-cordon", "fieldsV1": fields}]
        self._server.touch(found)

    def lift(self, node: NodeName) -> None:
        found = self._server.nodes[node]
        found["spec"].pop("unschedulable", None)
        found["metadata"].pop("managedFields", None)
        self._server.touch(found)

    def give_label(self, node: NodeName, label: str) -> None:
        self._server.nodes[node]["metadata"]["labels"][label] = ""
        self._server.touch(self._server.nodes[node])
