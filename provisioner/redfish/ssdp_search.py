"""`python -m provisioner.redfish.ssdp_search`: one SSDP search, its answers as a JSON list of URLs.

A process of its own, as `discover_ssdp` sets the process-wide socket timeout and listens as long as answers come.
"""

import argparse
import json
import sys

from redfish import discover_ssdp


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--port", type=int, default=1900)
    parser.add_argument("--interface")
    parser.add_argument("--address")
    chosen = parser.parse_args()
    answers = discover_ssdp(
        port=chosen.port, response_time=chosen.seconds, iface=chosen.interface, address=chosen.address
    )
    sys.stdout.write(json.dumps(sorted({url for url in answers.values() if url})))


if __name__ == "__main__":
    main()
