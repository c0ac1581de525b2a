"""JSON Schemas of the profiles, for editors: `python -m profiles.schema_files` writes them."""

import json
from pathlib import Path

from pydantic import BaseModel

from profiles.compat.facts import CompatibilityFacts
from profiles.fleet import Fleet
from profiles.loader import KINDS

SCHEMAS = Path(__file__).parent / "schemas"
_MODELS: dict[str, type[BaseModel]] = {**KINDS, "compat": CompatibilityFacts, "fleet": Fleet}


def write_schemas(directory: Path = SCHEMAS) -> None:
    """Write `<folder>.schema.json` for each folder of profiles, and `fleet.schema.json`."""
    directory.mkdir(exist_ok=True)
    for folder, model in _MODELS.items():
        (directory / f"{folder}.schema.json").write_text(schema_text(model), encoding="utf-8")


def schema_text(model: type[BaseModel]) -> str:
    """Return the schema of one model, the same text for the same model."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    write_schemas()
