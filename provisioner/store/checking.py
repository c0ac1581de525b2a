"""A look at the database from outside, without changing it."""

from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from provisioner.errors import BadInput
from provisioner.store.urls import database_url


def check_database(url: str) -> str:
    """A sentence about it. Raises `BadInput` when it cannot be used or is damaged."""
    address = database_url(url)
    shown = address.render_as_string()
    is_file = address.get_backend_name() == "sqlite"
    if is_file and not Path(address.database or "").exists():
        return f"{shown}: not there yet; the first start makes it"
    engine = create_engine(address)
    try:
        with engine.connect() as connection:
            said = connection.scalar(text("PRAGMA quick_check(1)" if is_file else "SELECT 'ok'"))
    except SQLAlchemyError as error:
        raise BadInput(f"{shown}: cannot use the database: {getattr(error, 'orig', error)}") from error
    finally:
        engine.dispose()
    if said != "ok":
        raise BadInput(f"{shown}: the database is damaged ({said}); restore it from a backup")
    return f"{shown}: readable"
