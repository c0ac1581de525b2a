"""A small complete catalog to break in one place at a time."""

from pathlib import Path

FILES = {
    "hardware/box.yaml": """\
name: box
description: a server
match:
  manufacturer: [Supermicro]
  model: ["SYS-821GE*"]
  gpu_model: ["*H100*"]
  arch: x86_64
gpu_count: 8
nvlink_domain_size: 8
factory_credential_hint: on the pull-out tag
""",
    "bios/box-gpu.yaml": """\
name: box-gpu
description: for a GPU pool
hardware_class: box
attributes:
  Above4GDecoding: Enabled
  Retries: 3
  SriovSupport: true
optional: [Retries]
""",
    "firmware/box-1.yaml": """\
name: box-1
description: tested together
hardware_class: box
policy: {newer: refuse, unknown: flash}
versions:
  bmc: "1.10"
""",
    "firmware/catalogs/box.yaml": """\
hardware_class: box
description: what there is
components:
  - component: bmc
    inventory: [BMC]
    activation: bmc_reset
    expected_minutes: 10
    releases:
      - version: "1.9"
        artefact: {file: old.bin, sha256: "OLD", size_bytes: 4096}
      - version: "1.10"
        artefact: {file: bmc.bin, sha256: "NEW", size_bytes: 4096}
""".replace("OLD", "0b" * 32).replace("NEW", "0a" * 32),
    "images/agent.yaml": """\
name: agent
description: the burn-in agent
arch: x86_64
root: agent
""",
    "burnin/quick.yaml": """\
name: quick
description: a quick one
heartbeat: 15s
items:
  - id: cpu
    kind: cpu
    parameters: {seconds: 2}
    deadline: 90s
    floors: {threads: 1}
    ceilings: {mismatches: 0}
""",
    "releases/box-first.yaml": """\
name: box-first
description: the first
hardware_class: box
image: agent
firmware: box-1
bios: box-gpu
burn_in: quick
""",
}


def write_catalog(directory: Path, changed: dict[str, str] | None = None) -> Path:
    """Write FILES below `directory`, with some of them replaced or added; return `directory`."""
    for name, text in {**FILES, **(changed or {})}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


def edited(name: str, old: str, new: str) -> dict[str, str]:
    """Return the change of one file in which `old` occurs."""
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}
