"""Software of the host that has a floor of its own: DCGM, nvidia-fs, peer memory, DMA-BUF."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, fine, refusal, unknown
from profiles.compat.asked import Asked
from profiles.compat.kinds import Use
from profiles.compat.versions import parse_version


def dcgm(asked: Asked) -> Iterator[Answer]:
    """DCGM's majors have a driver floor each."""
    facts = asked.facts.dcgm
    for component in asked.components("dcgm"):
        major = parse_version(component.version)[0]
        row = next((one for one in facts.majors if one.major == major), None)
        if row is None:
            yield unknown("dcgm-unknown", f"which drivers DCGM {component.version} takes is not known", facts.sources)
        elif asked.driver < parse_version(row.min_driver):
            text = f"DCGM {component.version} needs driver {row.min_driver} or newer, not {asked.setup.driver}"
            yield refusal("driver-too-old-for-dcgm", text, facts.sources)
        else:
            confidence = "" if row.confidence == "high" else f" ({row.confidence} confidence)"
            note = f"; {row.note}" if row.note else ""
            text = f"DCGM {component.version} takes drivers from {row.min_driver} on{confidence}{note}"
            yield fine("dcgm-takes-driver", text, facts.sources)


def storage(asked: Asked) -> Iterator[Answer]:
    """GPUDirect Storage goes through nvidia-fs."""
    facts, named = asked.facts.gpu_direct, asked.components("nvidia-fs")
    for component in named:
        text = f"GPUDirect Storage with open kernel modules needs nvidia-fs {facts.nvidia_fs_min} or newer"
        if parse_version(component.version) < parse_version(facts.nvidia_fs_min):
            yield refusal("nvidia-fs-too-old", f"{text}, not {component.version}", facts.sources)
        else:
            yield fine("nvidia-fs-new-enough", text, facts.sources)
    if Use.GPUDIRECT_STORAGE in asked.setup.uses and not named:
        text = f"gpudirect-storage needs nvidia-fs {facts.nvidia_fs_min} or newer, and none is named"
        yield refusal("component-missing", text, facts.sources)


def peer_memory(asked: Asked) -> Iterator[Answer]:
    """Two ways to RDMA: nvidia-peermem with OFED's interface, or DMA-BUF with a newer kernel."""
    facts, branch = asked.facts.gpu_direct, asked.branch.branch
    if Use.PEERMEM in asked.setup.uses:
        text = f"nvidia-peermem is in the driver from R{facts.peermem_first_branch} on"
        if branch < facts.peermem_first_branch:
            yield refusal("peermem-not-in-driver", f"{text}, not in R{branch}", facts.sources)
        else:
            text = f"{text}; it needs the peer-memory interface of OFED; dma-buf is preferred"
            yield fine("peermem-in-driver", text, facts.sources)
    if Use.DMA_BUF in asked.setup.uses:
        yield _dma_buf(asked)


def _dma_buf(asked: Asked) -> Answer:
    facts, kernel = asked.facts.gpu_direct, asked.setup.kernel
    text = f"dma-buf needs kernel {facts.dma_buf_min_kernel} or newer"
    if kernel is None:
        return unknown("kernel-not-named", f"{text}: say which kernel it is", facts.sources)
    if parse_version(kernel) < parse_version(facts.dma_buf_min_kernel):
        return refusal("kernel-too-old-for-dma-buf", f"{text}, not {kernel}", facts.sources)
    return fine("kernel-has-dma-buf", text, facts.sources)
