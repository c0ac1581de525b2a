"""Tokens: what they are narrowed to, until when, and when they were used. Claims of requests. Operations."""

import sqlalchemy as sa
from alembic import op

revision = "v0012"
down_revision = "v0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Older tokens keep all that their role may do."""
    _tokens()
    _request_claims()
    _operations()


def _tokens() -> None:
    op.add_column("tokens", sa.Column("prefix", sa.Text(), nullable=False, server_default=""))
    op.add_column("tokens", sa.Column("scopes", sa.Text(), nullable=True))
    for name in ("created_at", "expires_at", "last_used_at"):
        op.add_column("tokens", sa.Column(name, sa.DateTime(timezone=True), nullable=True))


def _request_claims() -> None:
    op.create_table(
        "request_claims",
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lost", sa.Boolean(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("request", name="pk_request_claims"),
    )
    op.create_index("ix_request_claims_claimed_at", "request_claims", ["claimed_at"])
    has_the_work = sa.text("NOT lost")
    op.create_index(
        "ux_request_claims_key",
        "request_claims",
        ["principal", "key"],
        unique=True,
        sqlite_where=has_the_work,
        postgresql_where=has_the_work,
    )


def _operations() -> None:
    op.create_table(
        "operations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cancelling", sa.Boolean(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_operations"),
    )
    op.create_index("ix_operations_created_at", "operations", ["created_at"])
    unended = sa.text("state IN ('waiting', 'running')")
    op.create_index(
        "ux_operations_unended",
        "operations",
        ["kind", "key"],
        unique=True,
        sqlite_where=unended,
        postgresql_where=unended,
    )
