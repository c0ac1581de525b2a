"""The BMCs that the selected tests ask about, in one fleet a worker."""

from collections.abc import Iterator

import pytest

from tests.conformance.dmtf import need_dmtf
from tests.conformance.site import Site


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A BMC of each persona and use that a selected test asks about."""
    need_dmtf()
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    questions = [(call.params["suite"], call.params["persona"]) for call in calls if call and "suite" in call.params]
    with Site(questions, tmp_path_factory.mktemp("conformance")) as site:
        yield site
