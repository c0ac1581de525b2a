"""Rollouts, the turns of nodes in them, and the releases that came back."""

import sqlalchemy as sa
from alembic import op

revision = "v0009"
down_revision = "v0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    _rollouts()
    _parts()
    _turns()


def _rollouts() -> None:
    op.create_table(
        "rollouts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_rollouts"),
    )
    op.create_index("ix_rollouts_closed_at", "rollouts", ["closed_at"])


def _parts() -> None:
    for table, key in (("rollout_units", "unit"), ("rollout_nodes", "node")):
        op.create_table(
            table,
            sa.Column("rollout", sa.Text(), nullable=False),
            sa.Column(key, sa.Text(), nullable=False),
            sa.Column("document", sa.Text(), nullable=False),
            sa.ForeignKeyConstraint(["rollout"], ["rollouts.name"], name=f"fk_{table}_rollout"),
            sa.PrimaryKeyConstraint("rollout", key, name=f"pk_{table}"),
        )
    op.create_table(
        "rollout_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rollout", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["rollout"], ["rollouts.name"], name="fk_rollout_lines_rollout"),
        sa.PrimaryKeyConstraint("id", name="pk_rollout_lines"),
    )
    op.create_index("ix_rollout_lines_rollout_id", "rollout_lines", ["rollout", "id"])
    op.create_table(
        "rejected_releases",
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("hardware_class", sa.Text(), nullable=False),
        sa.Column("rollout", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["rollout"], ["rollouts.name"], name="fk_rejected_releases_rollout"),
        sa.PrimaryKeyConstraint("release", "hardware_class", name="pk_rejected_releases"),
    )


def _turns() -> None:
    op.create_table(
        "node_turns",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("came_from", sa.Text(), nullable=True),
        sa.Column("cordoned", sa.Boolean(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("active", sa.Text(), nullable=True),
        sa.Column("blue", sa.Text(), nullable=True),
        sa.Column("green", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_node_turns_node"),
        sa.PrimaryKeyConstraint("node", name="pk_node_turns"),
    )
    op.create_index("ix_node_turns_holder", "node_turns", ["holder"])
