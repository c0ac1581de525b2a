"""Campaigns, readings of firmware inventories, and findings about them."""

import sqlalchemy as sa
from alembic import op

revision = "v0006"
down_revision = "v0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    _campaigns()
    _members_and_lines()
    _drift()


def _campaigns() -> None:
    op.create_table(
        "campaigns",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("hardware_class", sa.Text(), nullable=False),
        sa.Column("per_rack", sa.Integer(), nullable=False),
        sa.Column("per_site", sa.Integer(), nullable=False),
        sa.Column("canaries", sa.Integer(), nullable=False),
        sa.Column("ready_within_seconds", sa.Double(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_campaigns"),
    )
    op.create_index("ix_campaigns_ended_at", "campaigns", ["ended_at"])


def _members_and_lines() -> None:
    op.create_table(
        "campaign_members",
        sa.Column("campaign", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("rack", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.name"], name="fk_campaign_members_campaign"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_campaign_members_node"),
        sa.PrimaryKeyConstraint("campaign", "place", name="pk_campaign_members"),
    )
    op.create_index("ix_campaign_members_node", "campaign_members", ["node"])
    op.create_table(
        "campaign_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("campaign", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.name"], name="fk_campaign_lines_campaign"),
        sa.PrimaryKeyConstraint("id", name="pk_campaign_lines"),
    )
    op.create_index("ix_campaign_lines_campaign_id", "campaign_lines", ["campaign", "id"])


def _drift() -> None:
    op.create_table(
        "firmware_readings",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("tried_generation", sa.Integer(), nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("versions", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_firmware_readings_node"),
        sa.PrimaryKeyConstraint("node", name="pk_firmware_readings"),
    )
    op.create_table(
        "drift_findings",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_drift_findings"),
    )
    op.create_table(
        "drift_turn",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_drift_turn"),
    )
