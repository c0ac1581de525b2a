"""A plain HTTPS client of one emulated BMC, and waiting."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import requests
import urllib3

from emulator.testing import RunningBmc


class BmcClient:
    """Sends requests with the label's credentials over one kept connection."""

    def __init__(self, bmc: RunningBmc) -> None:
        self.bmc = bmc
        self.http = requests.Session()
        self.http.verify = False
        self.http.trust_env = False
        self.http.auth = (bmc.username, bmc.password)

    def send(self, method: str, path: str, timeout: float = 10, **arguments: Any) -> requests.Response:
        with warnings.catch_warnings():  # the certificate is self-signed
            warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
            return self.http.request(method, self.bmc.url + path, timeout=timeout, **arguments)

    def get(self, path: str) -> dict[str, Any]:
        answer = self.send("GET", path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        document: dict[str, Any] = answer.json()
        return document

    def reset(self, reset_type: str) -> requests.Response:
        system = self.get("/redfish/v1/Systems")["Members"][0]["@odata.id"]
        return self.send("POST", f"{system}/Actions/ComputerSystem.Reset", json={"ResetType": reset_type})

    def versions(self) -> dict[str, str]:
        collection = self.get("/redfish/v1/UpdateService/FirmwareInventory?$expand=.($levels=1)")
        return {entry["Id"]: entry["Version"] for entry in collection["Members"]}


def wait_for(what: Callable[[], Any], seconds: float = 30) -> Any:
    """The first true value of `what`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = what()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")
