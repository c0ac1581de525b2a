"""The description of the API, and the API held against it."""

import json
import re

from api.app import bare_app
from api.openapi import canonical_json
from api.write_openapi import FILE
from tests.api.site import Site


def test_the_checked_in_document_is_that_of_the_code() -> None:
    """When this fails: python -m api.write_openapi, and read the diff."""
    assert FILE.read_text(encoding="utf-8") == canonical_json(bare_app().openapi())


def test_the_service_gives_out_the_same_document(shared_site: Site) -> None:
    assert shared_site.get("/v1/openapi.json").json() == json.loads(FILE.read_text())


def test_every_error_in_the_document_is_a_problem() -> None:
    document = json.loads(FILE.read_text())
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            errors = {status: one for status, one in operation["responses"].items() if status >= "400"}
            if path == "/healthz":
                continue
            assert all(one["content"] == problem for one in errors.values()), (method, path)
            assert ("401" in errors) == ("security" in operation or path.endswith("register")), (method, path)
    references = set(re.findall(r'"#/components/schemas/(\w+)"', FILE.read_text()))
    assert references == set(document["components"]["schemas"])
