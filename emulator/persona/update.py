"""How the update service and the task service of a BMC behave."""

from typing import Literal

from pydantic import Field

from emulator.persona.part import Part

ApplyTime = Literal[
    "Immediate", "OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset", "OnStartUpdateRequest"
]


class Update(Part):
    """The ways in which firmware may be sent.

    `groups`: targets that stand for every device whose inventory id is like one of these patterns.
    `empty_targets`: what an empty list of targets stands for; nothing: every device of the package's class.
    `two_step`: a push to `push_uri` only stores the image; SimpleUpdate or `install_uri` then takes it from there.
    `empty_slot`: what the entry of a slot says that holds no image (None: null); `absent`: there is no such entry.
    `during_copy`: a flash while the second slot is being copied is refused, or goes on and damages the new image.
    `slot_oem`: the vendor's words for both slots of a device, in its inventory entry.
    `boards`: packages that bring several component classes at once, by the name of the board.
    `software`: drivers that the BMC lists as SoftwareInventory, by id, with their versions.
    """

    simple_update: bool
    protocols: tuple[str, ...] = ("HTTP", "HTTPS")
    multipart_uri: str | None
    push_uri: str | None
    max_image_bytes: int | None = None
    apply_times: tuple[ApplyTime, ...] = ("Immediate",)
    strict_parts: bool = False
    busy_status: Literal[400, 409, 503] = 503
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    empty_targets: tuple[str, ...] = ()
    two_step: bool = False
    install_uri: str | None = None
    empty_slot: str | None = "absent"
    no_version: str = "version not available"
    during_copy: Literal["refused", "unsafe"] = "refused"
    write_protection: Literal["enforced", "ignored"] = "enforced"
    verify_server: bool | None = None  # VerifyRemoteServerCertificate as the factory sets it; None: there is none
    slot_oem: Literal["nvidia"] | None = None
    boards: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    software: dict[str, str] = Field(default_factory=dict)


class Tasks(Part):
    """Where a task is found. `body` says what a 202 answer carries; numbers may start again when the BMC does.

    `kept`: tasks outlive a restart of the BMC. `most`: tasks at most; then the oldest that has ended goes (Oldest), or
    no new one is taken (Manual). `jobs`: where the same tasks are listed as jobs, in DMTF's or in Dell's form.
    """

    id: str = "{number}"
    digits: int = 1
    numbers_restart: bool = True
    monitor: str = "/redfish/v1/TaskService/TaskMonitors/{id}"
    body: Literal["task", "message", "empty"] = "task"
    kept: bool = False
    most: int = 64
    overwrite: Literal["Oldest", "Manual"] = "Oldest"
    auto_delete_minutes: int | None = None
    sub_tasks: bool = False
    hide_payload: bool = False
    job_service: bool = False
    dell_jobs: bool = False
