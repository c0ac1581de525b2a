"""ETag out, If-Match in: RFC 9110, sections 8.8.3 and 13.1.1."""

import pytest
from fastapi import FastAPI, Response

from api import problems
from api.preconditions import Conditional, etag_of, require_match
from api.problems import documented
from tests.api.asgi import ask

REVISION = 7


def app_with(there: bool = True) -> FastAPI:
    """One resource, at revision 7."""
    app = FastAPI()
    problems.install(app)

    @app.get("/thing")
    async def read(response: Response) -> int:
        response.headers["ETag"] = etag_of(REVISION)
        return REVISION

    @app.put("/thing", responses=documented(400, 412, 428))
    async def write(request: Conditional) -> int:
        require_match(request, etag_of(REVISION) if there else None)
        return REVISION + 1

    return app


async def put(*given: str, there: bool = True) -> int:
    answer = await ask(app_with(there), "PUT", "/thing", [("If-Match", one) for one in given])
    if answer.status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].startswith("If-Match is")
        assert answer.json()["errors"][0]["pointer"] == "#/If-Match"
    return answer.status


async def test_what_was_read_may_be_changed() -> None:
    read = await ask(app_with(), "GET", "/thing")
    assert await put(read.headers["etag"]) == 200


@pytest.mark.parametrize(
    "given", [['"7"'], ['"6", "7"'], ['"6"', '"7"'], ["*"], [' "a,b" ,, W/"6" , "7" '], [', "7"'], ['"7",']]
)
async def test_one_strong_tag_of_a_list_is_enough(given: list[str]) -> None:
    assert await put(*given) == 200


@pytest.mark.parametrize("given", ['"6"', 'W/"7"', '"6", W/"7"', '""', '"a,7"', '"70"'])
async def test_another_or_a_weak_tag_is_stale(given: str) -> None:
    assert await put(given) == 412


@pytest.mark.parametrize("given", ["7", '"7', 'w/"7"', '"7" "6"', '*, "7"', '"7", *', '"a b"', ","])
async def test_what_is_no_list_of_tags_is_malformed(given: str) -> None:
    assert await put(given) == 400


@pytest.mark.parametrize("given", [[], [""], ["  "]])
async def test_without_it_nothing_is_changed(given: list[str]) -> None:
    assert await put(*given) == 428


async def test_where_nothing_is_nothing_matches() -> None:
    assert await put("*", there=False) == 412
    assert await put('"7"', there=False) == 412
    assert await put(there=False) == 428


async def test_the_description_has_the_header_and_the_answers() -> None:
    operation = (await ask(app_with(), "GET", "/openapi.json")).json()["paths"]["/thing"]["put"]
    assert [(one["name"], one["in"], one["required"]) for one in operation["parameters"]] == [
        ("If-Match", "header", False)
    ]
    assert {"400", "412", "428"} <= set(operation["responses"])


@pytest.mark.parametrize("revision", ['a"b', "a b", "a\nb"])
def test_a_revision_that_no_tag_can_hold_is_a_mistake_of_ours(revision: str) -> None:
    with pytest.raises(ValueError, match="entity tag"):
        etag_of(revision)
    assert etag_of("sha256:ab") == '"sha256:ab"'
