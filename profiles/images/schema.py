"""The JSON Schema of an image profile as its file has it: parts may be inherited, and markers change inherited ones."""

from typing import Any

from pydantic import TypeAdapter

from profiles.images.patch_source import REMOVE, REPLACE
from profiles.images.profile import ImageProfile

_AGENT = "AgentImage"


def image_schema() -> dict[str, Any]:
    """Return the schema of both kinds of root; only the name and the description are never inherited."""
    schema = TypeAdapter(ImageProfile).json_schema()
    definitions = schema["$defs"]
    for name, definition in definitions.items():
        if name != _AGENT:
            definitions[name] = _written(definition)
    definitions["DebianImage"]["required"] = ["name", "description"]
    return {**schema, "description": "What a node boots: images/*.yaml.", "title": "ImageProfile"}


def _written(schema: Any) -> Any:
    """Turn the schema of a whole value into that of its part in one file."""
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "array":
        return _list(schema)
    if schema.get("type") == "object":
        return _mapping(schema)
    if "anyOf" in schema:
        return {**schema, "anyOf": [_written(one) for one in schema["anyOf"]]}
    return schema


def _list(schema: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {key: schema[key] for key in ("title", "description", "default") if key in schema}
    removal = {"type": "object", "properties": {REMOVE: {}}, "required": [REMOVE], "additionalProperties": False}
    items = {"type": "array", "items": {"anyOf": [_written(schema["items"]), removal]}}
    replacement = {"type": "object", "properties": {REPLACE: items}, "required": [REPLACE]}
    return {**described, "anyOf": [items, {**replacement, "additionalProperties": False}]}


def _mapping(schema: dict[str, Any]) -> dict[str, Any]:
    part = {key: value for key, value in schema.items() if key not in ("required", "properties")}
    properties = {key: _written(value) for key, value in schema.get("properties", {}).items()}
    properties[REMOVE] = {"type": "array", "items": {"type": "string"}}
    properties[REPLACE] = {"type": "object"}
    return {**part, "properties": properties}
