"""The journal of firmware updates: every try with its phases, finished ones too."""

import json
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "v0007"
down_revision = "v0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; what was under way in the old one goes on in it."""
    journal = op.create_table(
        "firmware_updates",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("component", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("activation", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=True),
        sa.Column("live_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tasks_before", sa.Text(), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_firmware_updates_node"),
        sa.PrimaryKeyConstraint("number", name="pk_firmware_updates"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_firmware_updates_node_number", "firmware_updates", ["node", "number"])
    op.create_index("ix_firmware_updates_changed_at", "firmware_updates", ["changed_at"])
    is_open = sa.text("phase NOT IN ('done', 'failed')")
    op.create_index(
        "ux_firmware_updates_open",
        "firmware_updates",
        ["node", "component", "part"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    rows = [_begun(*row) for row in op.get_bind().execute(sa.text("SELECT * FROM updates ORDER BY node, component"))]
    if rows:
        op.bulk_insert(journal, rows)
    op.drop_table("updates")


def _begun(node: str, component: str, version: str, intended_at: datetime | str, task: str | None) -> dict[str, object]:
    """It was sent; a power cycle activates whatever it was."""
    at = datetime.fromisoformat(intended_at) if isinstance(intended_at, str) else intended_at
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    changes = [["planned", at.isoformat(), "", False], ["uploaded", at.isoformat(), "sent by an older program", False]]
    return {
        "node": node,
        "component": component,
        "part": "",
        "version": version,
        "digest": "",
        "activation": "power_cycle",
        "attempt": 1,
        "phase": "uploaded",
        "task": task,
        "live_until": None,
        "tasks_before": "[]",
        "changes": json.dumps(changes),
        "changed_at": at,
    }
