"""UpdateService with its push transports, which sushy lacks."""

from sushy.resources.base import Field, ResourceBase

_SIMPLE = ["Actions", "#UpdateService.SimpleUpdate"]
_APPLY_TIMES = "@Redfish.OperationApplyTimeSupport"


class UpdateTransports(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """What an UpdateService offers to start an update with (DSP0268 UpdateService)."""

    enabled = Field("ServiceEnabled")
    inventory = Field("FirmwareInventory")
    simple_update = Field([*_SIMPLE, "target"])
    simple_update_info = Field([*_SIMPLE, "@Redfish.ActionInfo"])
    transfer_protocols = Field([*_SIMPLE, "TransferProtocol@Redfish.AllowableValues"])
    simple_update_times = Field([*_SIMPLE, _APPLY_TIMES, "SupportedValues"])
    simple_update_allows = Field([*_SIMPLE, "@Redfish.OperationApplyTime@Redfish.AllowableValues"])
    start_update = Field(["Actions", "#UpdateService.StartUpdate", "target"])
    multipart_uri = Field("MultipartHttpPushUri")
    multipart_times = Field([f"MultipartHttpPushUri{_APPLY_TIMES}", "SupportedValues"])
    push_uri = Field("HttpPushUri")
    push_targets = Field("HttpPushUriTargets")
    push_targets_busy = Field("HttpPushUriTargetsBusy")
    push_options_busy = Field("HttpPushUriOptionsBusy")
    push_apply_time = Field(["HttpPushUriOptions", "HttpPushUriApplyTime", "ApplyTime"])
    push_times = Field(["HttpPushUriOptions", "HttpPushUriApplyTime", "ApplyTime@Redfish.AllowableValues"])
    largest_bytes = Field("MaxImageSizeBytes")
