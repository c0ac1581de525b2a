"""JSON Schemas of the profiles, for editors: `python -m profiles.schema_files` writes them."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from profiles.compat.facts import CompatibilityFacts
from profiles.fleet import Fleet
from profiles.images.schema import image_schema
from profiles.loader import IMAGES, KINDS

SCHEMAS = Path(__file__).parent / "schemas"
_MODELS: dict[str, type[BaseModel]] = {**KINDS, "compat": CompatibilityFacts, "fleet": Fleet}


def write_schemas(directory: Path = SCHEMAS) -> None:
    """Write `<folder>.schema.json` for each folder of profiles (`/` becomes `-`), and `fleet.schema.json`."""
    directory.mkdir(exist_ok=True)
    texts = {folder: schema_text(model) for folder, model in _MODELS.items()} | {IMAGES: _text(image_schema())}
    for folder, text in texts.items():
        (directory / f"{folder.replace('/', '-')}.schema.json").write_text(text, encoding="utf-8")


def schema_text(model: type[BaseModel]) -> str:
    """Return the schema of one model, the same text for the same model."""
    return _text(model.model_json_schema())


def _text(schema: dict[str, Any]) -> str:
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema}, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    write_schemas()
