"""Tokens: what they are narrowed to, until when, and when they were used."""

import sqlalchemy as sa
from alembic import op

revision = "v0012"
down_revision = "v0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns: older tokens keep all that their role may do."""
    op.add_column("tokens", sa.Column("prefix", sa.Text(), nullable=False, server_default=""))
    op.add_column("tokens", sa.Column("scopes", sa.Text(), nullable=True))
    for name in ("created_at", "expires_at", "last_used_at"):
        op.add_column("tokens", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
