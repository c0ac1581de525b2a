"""Channels and how they move."""

import sqlalchemy as sa
from alembic import op

revision = "v0011"
down_revision = "v0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    _channels()


def _channels() -> None:
    op.create_table(
        "channels",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("hardware_class", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["release"], ["releases.digest"], name="fk_channels_release"),
        sa.PrimaryKeyConstraint("channel", "hardware_class", name="pk_channels"),
    )
    op.create_table(
        "channel_movements",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("hardware_class", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("promotion", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["release"], ["releases.digest"], name="fk_channel_movements_release"),
        sa.PrimaryKeyConstraint("channel", "hardware_class", "revision", name="pk_channel_movements"),
    )
