"""Task with its Payload, read leniently: sushy's own class refuses tasks without Id or Name."""

from sushy.resources.base import Field, ResourceBase


class TaskEntry(ResourceBase):  # type: ignore[misc]  # sushy is untyped
    """One look at a task (DSP0268 Task)."""

    identity = Field("Id")
    name = Field("Name")
    state = Field("TaskState")
    status = Field("TaskStatus")
    percent = Field("PercentComplete")
    messages = Field("Messages")
    payload = Field("Payload")
    """The request that made the task; null on some BMCs."""
