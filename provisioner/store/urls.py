"""Database URLs as people write them."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from provisioner.errors import BadInput

_REMEDY = "write sqlite:///<file> or postgresql://<user>@<host>/<name>"
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


def database_url(text: str) -> URL:
    """`sqlite:///file`, `postgresql://...`, `postgresql+psycopg://...`. Raises `BadInput`, without the password."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise BadInput(f"database URL: this is no URL; {_REMEDY}") from error
    if url.drivername in _POSTGRES:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        return url.set(drivername="sqlite")
    raise BadInput(f"database URL: {url.drivername} is not supported; {_REMEDY}")
