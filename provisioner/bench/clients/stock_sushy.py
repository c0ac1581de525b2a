"""Stock sushy, a BMC per thread: its own classes, session and connector, as OpenStack Ironic uses them.

It opens a connection for each request, and loads the machine's CA certificates for each although it checks nothing.
How long that takes depends on the machine (20 ms have been seen): here there are none to load.
"""

import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sushy
import sushy.auth
import urllib3
from sushy.exceptions import SushyError

from provisioner.bench.resources import Resources
from provisioner.bench.targets import Target
from provisioner.errors import BadInput

THREADS = 32


def read_all(targets: Sequence[Target], resources: dict[str, Resources]) -> int:
    """Read the same resources; how many came. Raises `BadInput` when a BMC says no."""
    logging.getLogger("sushy").setLevel(logging.ERROR)
    os.environ.update({"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull})
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    with ThreadPoolExecutor(THREADS) as threads:
        try:
            return sum(threads.map(lambda target: _read(target, resources[target.persona]), targets))
        except SushyError as error:
            raise BadInput(f"stock sushy cannot read an emulated BMC: {error}") from error


def _read(target: Target, resources: Resources) -> int:
    auth = sushy.auth.SessionOrBasicAuth(target.credentials.username, target.credentials.password.reveal())
    root = sushy.Sushy(target.url, auth=auth, verify=False)
    try:
        systems = root.get_system_collection()
        found = [root, systems, *systems.get_members()]
        for system in found[2:]:
            for name in ("processors", "ethernet_interfaces"):
                if _path(system, name.title().replace("_", "")) in resources.collections:
                    collection = getattr(system, name)
                    found += [collection, *collection.get_members()]
        found += [root.get_manager(path) for path in resources.singles if path.startswith("/redfish/v1/Managers/")]
        found += [root.get_system(path) for path in resources.singles if path.startswith("/redfish/v1/Systems/")]
        update = root.get_update_service()
        found += [update, update.firmware_inventory, *update.firmware_inventory.get_members()]
        if "/redfish/v1/Chassis" in resources.collections:
            chassis = root.get_chassis_collection()
            found += [chassis, *chassis.get_members()]
        return len(found)
    finally:
        auth.close()


def _path(system: Any, name: str) -> str:
    return str(system.json.get(name, {}).get("@odata.id"))
