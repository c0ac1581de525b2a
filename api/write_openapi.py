"""`python -m api.write_openapi` writes `api/openapi.json`: run it after every change of the API, and read the diff."""

from pathlib import Path

from api.app import bare_app
from api.openapi import canonical_json

FILE = Path(__file__).parent / "openapi.json"


def main() -> None:
    """Write the file."""
    FILE.write_text(canonical_json(bare_app().openapi()), encoding="utf-8")


if __name__ == "__main__":
    main()
