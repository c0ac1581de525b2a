"""Errors as Redfish answers them (DSP0266, error responses; DSP0268, Base message registry)."""

from collections.abc import Mapping
from typing import Any

_REGISTRY = "Base.1.13"


class RedfishError(Exception):
    """A refusal; `message_id` is a message of the Base registry unless it names another one."""

    def __init__(self, status: int, message_id: str, text: str, *arguments: str) -> None:
        """`arguments` are the MessageArgs."""
        super().__init__(text)
        self.status = status
        self.message_id = message_id if "." in message_id else f"{_REGISTRY}.{message_id}"
        self.text = text
        self.arguments = arguments
        self.headers: Mapping[str, str] = {}
        self.extended: list[dict[str, Any]] = []  # messages that say more than this one, in its place

    def document(self) -> dict[str, Any]:
        """The body of the answer."""
        extended = self.extended or [message(self.message_id, self.text, *self.arguments, severity="Critical")]
        return {"error": {"code": self.message_id, "message": self.text, "@Message.ExtendedInfo": extended}}


def message(message_id: str, text: str, *arguments: str, severity: str = "OK") -> dict[str, Any]:
    """One Message object."""
    return {
        "@odata.type": "#Message.v1_1_1.Message",
        "MessageId": message_id if "." in message_id else f"{_REGISTRY}.{message_id}",
        "Message": text,
        "MessageArgs": list(arguments),
        "Severity": severity,
        "MessageSeverity": severity,
        "Resolution": "None" if severity == "OK" else "Correct the request and send it again.",
    }


def not_found(path: str) -> RedfishError:
    """404."""
    return RedfishError(404, "ResourceMissingAtURI", f"The resource at the URI {path} was not found.", path)


def missing(parameter: str) -> RedfishError:
    """400: a property that must be there is not."""
    text = f"The property {parameter} is a required property and must be included in the request."
    return RedfishError(400, "PropertyMissing", text, parameter)


def unknown_property(name: str) -> RedfishError:
    """400: the resource has no such property."""
    return RedfishError(400, "PropertyUnknown", f"The property {name} is not in the list of valid properties.", name)


def not_writable(name: str) -> RedfishError:
    """400: the property is read only."""
    text = f"The property {name} is a read only property and cannot be assigned a value."
    return RedfishError(400, "PropertyNotWritable", text, name)


def no_operation() -> RedfishError:
    """400: the request changes nothing."""
    text = "The request body submitted contain no data to act upon and no changes to the resource took place."
    return RedfishError(400, "NoOperation", text)


def not_in_list(value: object, name: str) -> RedfishError:
    """400: a value outside of the allowable ones."""
    text = f"The value '{value}' for the property {name} is not in the list of acceptable values."
    return RedfishError(400, "PropertyValueNotInList", text, str(value), name)


def wrong_type(value: object, name: str) -> RedfishError:
    """400: a value of another type; nobody's password is repeated."""
    shown = "***" if "Password" in name else str(value)
    text = f"The value '{shown}' for the property {name} is of a different type than the property can accept."
    return RedfishError(400, "PropertyValueTypeError", text, shown, name)


def action_value(value: object, parameter: str, action: str) -> RedfishError:
    """400: an action's parameter outside of the allowable values."""
    text = f"The value '{value}' for the parameter {parameter} in the action {action} is not acceptable."
    return RedfishError(400, "ActionParameterValueNotInList", text, str(value), parameter, action)
