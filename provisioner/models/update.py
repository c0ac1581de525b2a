"""A firmware update as it is asked of a BMC, and what the BMC says that it takes. Names are DMTF's (DSP0268)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from profiles.firmware.component import Activation, Transport
from provisioner.models.package import Package


@dataclass(frozen=True, slots=True)
class UpdateOrder:
    """One update: one file, sent once."""

    package: Package
    targets: tuple[str, ...] | None
    """What `Targets` names; None: the key is left out, (): an empty list, which some BMCs take for "all of mine"."""
    transports: tuple[Transport, ...] = ()
    """Only these, in this order; empty: any that the BMC offers, best first."""
    oem: Mapping[str, Any] = field(default_factory=dict)
    """OemParameters of a multipart push, such as the preserve flags of Supermicro; empty: the part is left out."""
    trying: Callable[[Transport], None] = lambda _: None
    """Called with each transport just before it is tried: the last one is how it went, even if the answer is lost."""


@dataclass(frozen=True, slots=True)
class UpdateOffer:
    """What an UpdateService advertises. Empty tuples: it does not say."""

    transports: tuple[Transport, ...]
    """Best first."""
    protocols: tuple[str, ...] = ()
    """TransferProtocol values that SimpleUpdate takes; empty: any."""
    largest_bytes: int | None = None
    """MaxImageSizeBytes; None: no limit is named."""
    apply_times: tuple[str, ...] = ()
    """OperationApplyTime values (DSP0268 `@Redfish.OperationApplyTimeSupport`)."""
    start_update: bool = False
    """UpdateService.StartUpdate is there: what was sent to wait for it has to be started."""
    busy: bool = False
    """Another client has taken the push URI (`HttpPushUriTargetsBusy`)."""


@dataclass(frozen=True, slots=True)
class CycleVerb:
    """What a BMC offers to cut the power of a board or of a whole box."""

    name: str
    """As people know it: `NvidiaChassis.AuxPowerReset AuxPowerCycle` and the like, with the resource."""
    needs_off: bool
    """The BMC refuses it while the host is on."""
    activation: Activation
    """What it does for certain; POWER_CYCLE: it cuts one chassis inside the box, and no more."""
