"""The OpenAPI document."""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.problems import Problem, documented


def describe(app: FastAPI) -> None:
    """Make `app.openapi()` return the document."""
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]  # the way that FastAPI documents


def canonical_json(document: dict[str, Any]) -> str:
    """As in the file."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(problem.pop("$defs", {}))
        schemas["Problem"] = problem
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        _add_limits(document)
        app.openapi_schema = document
    return app.openapi_schema


def _add_limits(document: dict[str, Any]) -> None:
    """Who asks too often hears so, on each route where askers are told apart."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if "security" in operation or path.startswith(("/boot/", "/v1/agent/")):
                operation["responses"]["429"] = documented(429)[429]
