"""BMCs that were found by looking."""

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "found_bmcs",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("port", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("vendor", sa.Text(), nullable=False),
        sa.Column("product", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("address", "port", name="pk_found_bmcs"),
    )
    op.create_table(
        "last_scan",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("networks", sa.Text(), nullable=True),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_last_scan"),
    )
