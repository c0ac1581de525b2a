"""JSON Schemas of site.yaml and the expected list, for editors: `python -m provisioner.schema_files` writes them."""

from pathlib import Path

from pydantic import BaseModel

from profiles.schema_files import schema_text
from provisioner.discovery.expected import ExpectedList
from provisioner.settings import Site

SCHEMAS = Path(__file__).parent / "schemas"
_MODELS: dict[str, type[BaseModel]] = {"site": Site, "expected": ExpectedList}


def write_schemas(directory: Path = SCHEMAS) -> None:
    """Write `<file>.schema.json` for each of the files that people write beside profiles."""
    directory.mkdir(exist_ok=True)
    for name, model in _MODELS.items():
        (directory / f"{name}.schema.json").write_text(schema_text(model), encoding="utf-8")


if __name__ == "__main__":
    write_schemas()
