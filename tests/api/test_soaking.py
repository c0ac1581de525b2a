"""Soaks of a running site."""

from datetime import timedelta

from provisioner.models.identifiers import ReleaseDigest
from provisioner.services.soaking import SoakWatch
from tests.api.promoting import made, requested, runs
from tests.api.site import Site


def test_what_runs_soaks_and_what_does_not_does_not(site: Site) -> None:
    """Only a node that is in service and has reported this image; the first look counts nothing."""
    digest = made(site)
    service = site.app.state.service
    watch = SoakWatch(service.world, service.promotion)
    for _ in range(3):
        site.run(watch.count())
    release = ReleaseDigest(digest)
    assert site.run(site.store.soaks.of([release]))[release].node_hours == 0
    runs(site, digest)
    site.run(watch.count())
    soak = site.run(site.store.soaks.of([release]))[release]
    assert 0 < soak.node_hours == soak.hours < timedelta(minutes=2) / timedelta(hours=1)
    assert (soak.domains, soak.nodes) == (1, 1)
    asked = requested(site, digest, "canary")
    gate = next(one for one in asked["gates"] if one["name"] == "soak")
    assert "nobody has to do anything" in gate["remedy"]
