"""The templates of this folder."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from provisioner.errors import BadInput

_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._/+@%=:~-]*")
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9._~%:\[\]/-]+")

TEMPLATES_FOLDER = Path(__file__).parent / "templates"
_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES_FOLDER),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - configuration files, not pages; every value is checked first
)


def render(template: str, **values: object) -> str:
    """The text; two empty lines in a row become one."""
    return re.sub(r"\n{3,}", "\n\n", _TEMPLATES.get_template(template).render(**values))


def plain_path(path: Path) -> str:
    """A path that means the same in every file that we write. Raises `BadInput`."""
    text = str(path.absolute())
    if not _PLAIN_PATH.fullmatch(text):
        raise BadInput(f"{text}: configuration files cannot name this path; use letters, digits and . _ - + only")
    return text


def plain_url(url: str) -> str:
    """A URL that means the same in every file that we write. Raises `BadInput`."""
    if not _PLAIN_URL.fullmatch(url) or not urlsplit(url).hostname:
        raise BadInput(f"public_url: {url} is no URL of a server; write it such as http://10.0.0.5:8410")
    return url
