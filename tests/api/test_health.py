"""Health and metrics."""

from prometheus_client.parser import text_string_to_metric_families

from provisioner.models.role import Role
from tests.api.site import Site


def samples(site: Site) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return {(name, sorted labels): value} of one scrape, after checking that nothing is told twice."""
    text = site.get("/metrics", role=Role.TECHNICIAN).text
    found = [one for family in text_string_to_metric_families(text) for one in family.samples]
    keys = [(one.name, tuple(sorted(one.labels.items()))) for one in found]
    assert len(keys) == len(set(keys))
    return dict(zip(keys, (one.value for one in found), strict=True))


def test_a_healthy_service_says_so_and_no_more(site: Site) -> None:
    response = site.request("GET", "/healthz", None)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_without_the_engine_it_is_not_healthy(site: Site) -> None:
    site.runs.broken = True
    response = site.request("GET", "/healthz", None)
    assert (response.status_code, response.json()) == (503, {"status": "unavailable"})


def test_without_the_database_it_is_not_healthy(site: Site) -> None:
    site.store.close()
    response = site.request("GET", "/healthz", None)
    assert (response.status_code, response.json()) == (503, {"status": "unavailable"})


def test_metrics_count_nodes_holds_and_events(site: Site) -> None:
    site.post("/v1/nodes/r01-u02/hold", json={"reason": "cable"})
    for scrape in range(2):
        found = samples(site)
        assert found["firstlight_nodes", (("state", "held"),)] == 1
        assert found["firstlight_nodes", (("state", "discovered"),)] == 1
        assert found["firstlight_nodes", (("state", "ready"),)] == 0
        assert found["firstlight_holds", (("owner", "operator"),)] == 1
        assert found["firstlight_events_total", (("kind", "discovered"),)] == 2
        assert found["firstlight_events_total", (("kind", "transition"),)] == 1
        bucket = ("le", "60.0"), ("state", "discovered")
        assert found["firstlight_node_time_in_state_seconds_bucket", bucket] == 1
        scrapes = ("method", "GET"), ("route", "/metrics"), ("status", "200")
        assert found.get(("firstlight_http_request_seconds_count", scrapes), 0) == scrape


def test_a_second_app_in_the_process_counts_for_itself(site: Site, shared_site: Site) -> None:
    shared_site.get("/v1/nodes")
    assert not [labels for name, labels in samples(site) if ("route", "/v1/nodes") in labels]
