"""Tokens: what they are narrowed to, until when, and when they were used. Claims of requests. Operations. Webhooks."""

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
    _webhooks()


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


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("types", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_table(
        "webhook_dead_letters",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("webhook", sa.Text(), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("redeliver", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["webhook"], ["webhooks.id"], name="fk_webhook_dead_letters_webhook"),
        sa.PrimaryKeyConstraint("number", name="pk_webhook_dead_letters"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhook_dead_letters_webhook_number", "webhook_dead_letters", ["webhook", "number"])
