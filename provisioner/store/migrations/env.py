"""Alembic runs this file; `migrate.py` hands it the connection, within a transaction."""

from alembic import context

from provisioner.store.schema import schema

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=schema(),
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
