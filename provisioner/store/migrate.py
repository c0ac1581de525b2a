"""Brings a database to the schema of this program."""

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine

from provisioner.errors import BadInput
from provisioner.store.locks import Lock, hold_lock


def migrate(engine: Engine) -> None:
    """All in one transaction; of several processes that start at once, one migrates while the others wait.

    Raises `BadInput` when the database is from a newer program.
    """
    config = Config()
    config.set_main_option("script_location", "provisioner.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        hold_lock(connection, Lock.MIGRATION)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise BadInput(f"this database was made by a newer Firstlight: {error}") from error
