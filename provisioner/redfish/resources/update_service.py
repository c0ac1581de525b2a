"""UpdateService with the push transport, which sushy lacks."""

from sushy.resources.base import Field, ResourceBase


class UpdateTransports(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """What an UpdateService offers to start an update with (DSP0268 UpdateService)."""

    simple_update = Field(["Actions", "#UpdateService.SimpleUpdate", "target"])
    transfer_protocols = Field(["Actions", "#UpdateService.SimpleUpdate", "TransferProtocol@Redfish.AllowableValues"])
    multipart_uri = Field("MultipartHttpPushUri")
    largest_bytes = Field("MaxImageSizeBytes")
