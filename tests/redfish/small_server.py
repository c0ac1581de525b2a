"""The documents of a small server, each feature once; for tests that change one thing."""

import copy
from typing import Any

from tests.redfish.tree_server import Documents, folded

SYSTEM = "/redfish/v1/Systems/1"
FIRMWARE = "/redfish/v1/UpdateService/FirmwareInventory"


def small() -> Documents:
    """A fresh copy."""
    return {folded(path): copy.deepcopy({"@odata.id": path, **document}) for path, document in _DOCUMENTS.items()}


def _collection(*paths: str) -> dict[str, Any]:
    return {"Members": [{"@odata.id": path} for path in paths], "Members@odata.count": len(paths)}


def _firmware(name: str) -> dict[str, Any]:
    return {"Id": name, "Name": name, "Version": "1.0", "Updateable": True}


_DOCUMENTS: dict[str, dict[str, Any]] = {
    "/redfish/v1/": {
        "RedfishVersion": "1.15.0",
        "Vendor": "Example",
        "UUID": "1B4E28BA-2FA1-11D2-883F-0016D3CCA427",
        "ProtocolFeaturesSupported": {"ExpandQuery": {"Levels": True, "NoLinks": True, "MaxLevels": 1}},
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "Managers": {"@odata.id": "/redfish/v1/Managers"},
        "AccountService": {"@odata.id": "/redfish/v1/AccountService"},
        "UpdateService": {"@odata.id": "/redfish/v1/UpdateService"},
        "Tasks": {"@odata.id": "/redfish/v1/TaskService"},
        "SessionService": {"@odata.id": "/redfish/v1/SessionService"},
        "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
    },
    "/redfish/v1/Systems": _collection(SYSTEM),
    SYSTEM: {
        "Id": "1",
        "SerialNumber": "S100",
        "UUID": "1B4E28BA-2FA1-11D2-883F-0016D3CCA427",
        "Manufacturer": "Example",
        "Model": "One",
        "PowerState": "On",
        "MemorySummary": {"TotalSystemMemoryGiB": 64},
        "Processors": {"@odata.id": f"{SYSTEM}/Processors"},
        "Bios": {"@odata.id": f"{SYSTEM}/Bios"},
        "Boot": {
            "BootSourceOverrideEnabled": "Disabled",
            "BootSourceOverrideTarget": "None",
            "BootSourceOverrideMode": "UEFI",
            "HttpBootUri": None,
            "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "UefiHttp"],
        },
        "Actions": {
            "#ComputerSystem.Reset": {
                "target": f"{SYSTEM}/Actions/ComputerSystem.Reset",
                "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "PowerCycle"],
            }
        },
        "Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/BMC"}]},
    },
    f"{SYSTEM}/Processors": _collection(f"{SYSTEM}/Processors/CPU0", f"{SYSTEM}/Processors/GPU0"),
    f"{SYSTEM}/Processors/CPU0": {"Id": "CPU0", "ProcessorType": "CPU", "InstructionSet": "x86-64", "Name": "CPU"},
    f"{SYSTEM}/Processors/GPU0": {"Id": "GPU0", "ProcessorType": "GPU", "Model": "H100", "Name": "GPU"},
    f"{SYSTEM}/Bios": {
        "Id": "Bios",
        "Attributes": {"Sriov": "Disabled", "Cores": 8},
        "@Redfish.Settings": {
            "SettingsObject": {"@odata.id": f"{SYSTEM}/Bios/Settings"},
            "SupportedApplyTimes": ["OnReset"],
        },
    },
    f"{SYSTEM}/Bios/Settings": {"Id": "Settings", "Attributes": {"Sriov": "Enabled"}},
    "/redfish/v1/Managers": _collection("/redfish/v1/Managers/BMC"),
    "/redfish/v1/Managers/BMC": {
        "Id": "BMC",
        "FirmwareVersion": "2.1",
        "Actions": {
            "#Manager.Reset": {
                "target": "/redfish/v1/Managers/BMC/Actions/Manager.Reset",
                "ResetType@Redfish.AllowableValues": ["GracefulRestart"],
            }
        },
    },
    "/redfish/v1/AccountService": {"Accounts": {"@odata.id": "/redfish/v1/AccountService/Accounts"}},
    "/redfish/v1/AccountService/Accounts": _collection("/redfish/v1/AccountService/Accounts/2"),
    "/redfish/v1/AccountService/Accounts/2": {"Id": "2", "UserName": "admin", "Name": "admin"},
    "/redfish/v1/UpdateService": {
        "Id": "UpdateService",
        "FirmwareInventory": {"@odata.id": FIRMWARE},
        "MaxImageSizeBytes": 1000,
        "MultipartHttpPushUri": "/redfish/v1/UpdateService/upload",
        "Actions": {"#UpdateService.SimpleUpdate": {"target": "/redfish/v1/UpdateService/Actions/SimpleUpdate"}},
    },
    FIRMWARE: _collection(f"{FIRMWARE}/BMC", f"{FIRMWARE}/BIOS"),
    f"{FIRMWARE}/BMC": _firmware("BMC"),
    f"{FIRMWARE}/BIOS": _firmware("BIOS"),
    "/redfish/v1/TaskService": {"Tasks": {"@odata.id": "/redfish/v1/TaskService/Tasks"}},
    "/redfish/v1/TaskService/Tasks": _collection("/redfish/v1/TaskService/Tasks/1"),
    "/redfish/v1/TaskService/Tasks/1": {
        "Id": "1",
        "TaskState": "Running",
        "TaskStatus": "OK",
        "PercentComplete": 40,
        "Payload": {"JsonBody": f'{{"Targets": ["{FIRMWARE}/BMC"]}}'},
    },
}
