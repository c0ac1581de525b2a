"""Faults of parts, sensors and what is printed on them."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault("duplicate-serial", "the serial number reads `serial`", "xcat2/xcat-core#5428", {"serial": "0123456789"}),
    Fault(
        "placeholder-serial",
        "the serial number reads as the maker of the board left it",
        "lf-edge/eve#6381",
        {"serial": "To be filled by O.E.M."},
    ),
    Fault(
        "slow-gpu",
        "the GPU at `index` (from zero) has only `share` of its speed, as a stand-in measures it",
        "arXiv:2402.15627, section 5.1",
        {"index": 0, "share": 0.9},
    ),
    Fault("gpu-missing", "the GPU at `index` (from zero) is not seen", "NVIDIA/NVSentinel#684", {"index": 0}),
    Fault(
        "gpu-degraded",
        "the GPU at `index` is there and its health is `health`",
        "dsx-ai-factory/infra-controller#3368",
        {"index": 0, "health": "Critical"},
        {"health": ("Warning", "Critical")},
    ),
    Fault(
        "gpu-overheats",
        "the GPU at `index` reads `celsius` (0: just above its limit)",
        "NVIDIA/NVSentinel#1371",
        {"index": 0, "celsius": 0.0},
    ),
    Fault("gpu-throttled", "the GPU at `index` is slowed down by heat", "NVIDIA/NVSentinel#890", {"index": 0}),
    Fault(
        "gpus-swapped",
        "the GPUs at `first` and `second` are in each other's place",
        "kubeswift-io/kubeswift#406",
        {"first": 0, "second": 1},
    ),
    Fault(
        "nvlink-down",
        "the port `link` of the GPU at `gpu` has no link",
        "Azure/azhpc-diagnostics#73",
        {"gpu": 0, "link": 0},
    ),
    Fault(
        "pcie-degraded",
        "the GPU at `index` has `lanes` lanes of `generation`",
        "NVIDIA/NVSentinel#890",
        {"index": 0, "lanes": 8, "generation": "Gen3"},
    ),
    Fault(
        "sensor-unavailable",
        "the sensors whose id contains `sensor` have no reading (empty: all)",
        "xcat2/confluent#6",
        {"sensor": ""},
    ),
    Fault(
        "sensor-frozen",
        "the sensors whose id contains `sensor` read what they read when the host was idle (empty: all)",
        "openbmc/dbus-sensors#26",
        {"sensor": ""},
    ),
    Fault(
        "sensor-not-found",
        "the sensors whose id contains `sensor` are listed and answer 404 (empty: all)",
        "Linuxfabrik/monitoring-plugins#460",
        {"sensor": ""},
    ),
    Fault("fan-failed", "the fan at `index` stands still, the others hurry", "ibm-openbmc/dev#3449", {"index": 0}),
    Fault(
        "supply-failed",
        "the power supply at `index` gives nothing (`how`: failed or input-lost)",
        "ibm-openbmc/openbmc#267",
        {"index": 0, "how": "failed"},
        {"how": ("failed", "input-lost")},
    ),
    Fault("dimm-missing", "the memory module at `index` is absent", "Comcast/fishymetrics#14", {"index": 0}),
    Fault("memory-too-small", "the host counts `gib` GiB of memory", "bb-Ricardo/check_redfish#66", {"gib": 0}),
    Fault("drive-failed", "the drive at `index` has failed", "bb-Ricardo/check_redfish#126", {"index": 0}),
    Fault(
        "leak-detected",
        "the leak detector at `index` is wet",
        "dsx-ai-factory/infra-controller#5521",
        {"index": 0},
    ),
)
