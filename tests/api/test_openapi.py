"""The description of the API, and the API held against it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import bare_app
from api.fields import NODE_NAME
from api.openapi import canonical_json
from api.write_openapi import FILE
from provisioner.capabilities.cipher import Cipher
from provisioner.models.audit import AuditEntry
from provisioner.models.role import Role
from provisioner.models.secret import Credentials, Secret
from tests.api.booting import ticket_of
from tests.api.site import N1, Site, running_site
from tests.api.small_bmcs import SmallBmc
from tests.api.test_agent import burning_in, registration
from tests.campaigns.samples import campaign_of
from tests.promotion.samples import a_promotion

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ALL_FIT = {"/healthz", "/v1/artefacts/{digest}"}
"""There is nothing that such a request could hold and that would not fit."""


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
            documents = [one["content"] for one in errors.values()]
            if path.startswith("/boot/"):  # firmware and initrds show one line on a console
                documents = [one for one in documents if one != {"text/plain": {}}]
            assert all(one == problem for one in documents), (method, path)
            assert ("401" in errors) == ("security" in operation or path.endswith("register")), (method, path)
    references = set(re.findall(r'"#/components/schemas/(\w+)"', FILE.read_text()))
    assert references == set(document["components"]["schemas"])


def operations() -> list[Any]:
    """Return the operations, but for the stream, which has no end."""
    schema: Any = schemathesis.openapi.from_dict(json.loads(FILE.read_text())).exclude(path="/v1/events")
    return [found.ok() for found in schema.get_all_operations()]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, key_cipher: Cipher) -> Iterator[tuple[Site, str]]:
    """A site, and the session of an agent whose burn-in is open."""
    with running_site(tmp_path_factory.mktemp("site"), key_cipher) as site:
        body = registration(site, ticket_of(site))
        session = site.post("/v1/agent/register", role=None, json=body).json()["session"]
        burning_in(site)
        site.run(site.store.vault.put_factory(N1, Credentials("ADMIN", Secret("x"))))
        site.bmcs.bmc = SmallBmc()
        site.run(site.store.campaigns.add(campaign_of({N1: site.node()}, name=N1)))
        asked = a_promotion(site.release(), id=N1)
        site.run(site.store.promotions.request(asked, audit=AuditEntry(asked.requested_at, "ann", "test", N1)))
        yield site, session


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.label)
def test_whatever_is_sent_the_answer_is_a_documented_one(session: tuple[Site, str], operation: Any) -> None:
    """Requests that fit the document and requests that do not; a part of them without the credentials."""
    site, agent = session
    bearer = agent if operation.path.startswith("/v1/agent/") else site.tokens[Role.ADMIN]
    for mode in GenerationMode:
        if mode is GenerationMode.POSITIVE or operation.path not in ALL_FIT:
            _try(operation.as_strategy(generation_mode=mode), site, bearer)


def operation_is_json(response: Any) -> bool:
    """Boot scripts are text, and so are their errors."""
    return str(response.headers.get("Content-Type")).startswith("application/problem+json")


def points_at_what_is_wrong(problem: dict[str, Any], case: Any) -> None:
    """Every 400 and 422 has pointers (RFC 6901) into the body, the query, the path or the headers."""
    assert problem["errors"], problem
    for error in problem["errors"]:
        assert re.fullmatch(r"#(/([^~/]|~[01])*)*", error["pointer"]), problem
        if error["in"] != "body":
            assert error["parameter"] in error["pointer"].replace("%20", " ").replace("~1", "/"), problem
        assert error["in"] != "query" or case.query is not None, problem


def _try(cases: Any, site: Site, bearer: str) -> None:
    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def ask(case: Any) -> None:
        if re.fullmatch(NODE_NAME, case.path_parameters.get("name", "")):
            case.path_parameters["name"] = N1
        response = case.call(base_url=site.url, headers={"Authorization": f"Bearer {bearer}"}, timeout=10)
        case.validate_response(response, checks=CHECKS)
        if response.status_code in {400, 422} and operation_is_json(response):
            points_at_what_is_wrong(response.json(), case)

    ask()
