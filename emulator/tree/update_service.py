"""UpdateService, TaskService and JobService; what comes and goes in them has handlers."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.persona.update import Update
from emulator.tree.document import HEALTHY, ROOT, Document, Entry, link, resource
from emulator.tree.places import TASK_SERVICE, UPDATE_SERVICE


def build(persona: Persona) -> Iterator[Entry]:
    """The services."""
    yield _tasks(persona)
    yield _updates(persona)
    if persona.tasks.job_service:
        yield _jobs(persona)


def _tasks(persona: Persona) -> Entry:
    path, tasks = TASK_SERVICE, persona.tasks
    properties: Document = {
        "ServiceEnabled": True,
        "CompletedTaskOverWritePolicy": tasks.overwrite,
        "LifeCycleEventOnTaskStateChange": True,
        "Status": HEALTHY,
        "Tasks": link(f"{path}/Tasks"),
    }
    if tasks.auto_delete_minutes is None:
        return resource(path, "TaskService.v1_1_5.TaskService", "Task Service", properties)
    properties["TaskAutoDeleteTimeoutMinutes"] = tasks.auto_delete_minutes
    return resource(path, "TaskService.v1_2_0.TaskService", "Task Service", properties)


def _jobs(persona: Persona) -> Entry:
    path = f"{ROOT}/JobService"
    properties: Document = {
        "ServiceEnabled": True,
        "ServiceCapabilities": {"MaxJobs": persona.tasks.most, "MaxSteps": 1, "Scheduling": True},
        "Status": HEALTHY,
        "Jobs": link(f"{path}/Jobs"),
    }
    return resource(path, "JobService.v1_0_4.JobService", "Job Service", properties)


def _updates(persona: Persona) -> Entry:
    update = persona.update
    properties: Document = {
        "ServiceEnabled": True,
        "FirmwareInventory": link(f"{UPDATE_SERVICE}/FirmwareInventory"),
        "SoftwareInventory": link(f"{UPDATE_SERVICE}/SoftwareInventory"),
        "MaxImageSizeBytes": update.max_image_bytes,
        "Status": HEALTHY,
        "Actions": _actions(update),
    }
    if update.multipart_uri:
        properties["MultipartHttpPushUri"] = update.multipart_uri
        properties["MultipartHttpPushUri@Redfish.OperationApplyTimeSupport"] = _apply_times(update)
    if update.push_uri:
        properties["HttpPushUri"] = update.push_uri
    if update.push_uri and not update.two_step:
        options = {"HttpPushUriApplyTime": {"ApplyTime": "Immediate"}, "ForceUpdate": False}
        properties |= {"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": False}
        properties |= {"HttpPushUriOptions": options, "HttpPushUriOptionsBusy": False}
    if update.verify_server is not None:
        properties["VerifyRemoteServerCertificate"] = update.verify_server
    return resource(UPDATE_SERVICE, "UpdateService.v1_11_0.UpdateService", "Update Service", properties)


def _actions(update: Update) -> Document:
    actions: Document = {}
    if update.simple_update:
        actions["#UpdateService.SimpleUpdate"] = {
            "target": f"{UPDATE_SERVICE}/Actions/UpdateService.SimpleUpdate",
            "TransferProtocol@Redfish.AllowableValues": list(update.protocols),
            "@Redfish.OperationApplyTimeSupport": _apply_times(update),
        }
    if "OnStartUpdateRequest" in update.apply_times:
        target = f"{UPDATE_SERVICE}/Actions/UpdateService.StartUpdate"
        actions["#UpdateService.StartUpdate"] = {"target": target}
    if update.install_uri:
        allowed = {"InstallUpon@Redfish.AllowableValues": ["Now", "NowAndReboot", "NextReboot"]}
        actions["Oem"] = {"#DellUpdateService.Install": {"target": update.install_uri, **allowed}}
    return actions


def _apply_times(update: Update) -> Document:
    kind = "#Settings.v1_3_3.OperationApplyTimeSupport"
    return {"@odata.type": kind, "SupportedValues": list(update.apply_times)}
