"""The bench of images refuses what it cannot measure, before anything is fetched or built."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.bench.command import bench_app
from provisioner.errors import BadInput


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("debian-12-bas",), 'there is no image "debian-12-bas"; .*debian-12-base'),
        (("debian-base",), "debian-base is abstract"),
        (("agent-x86-64",), "agent-x86-64 has root: agent, which has no packages"),
        (("debian-12-base", "--config", "absent.yaml"), r"absent\.yaml"),
    ],
)
def test_an_image_that_cannot_be_built_is_refused(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(bench_app, ["images", *words])
    with pytest.raises(BadInput, match=reason):
        raise refused.exception or AssertionError(refused.output)


def test_without_root_there_is_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bare mmdebstrap would need more than a user may do; nothing is begun."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    refused = CliRunner().invoke(bench_app, ["images"])
    assert isinstance(refused.exception, BadInput)
    assert "needs root" in str(refused.exception)
    assert "use sudo" in str(refused.exception)
