"""Boots that fail are remembered with their tickets, and nodes are found by the addresses of their ports."""

import json
import re

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"
branch_labels = None
depends_on = None

_COUNTS = {"most_served": "12", "programs": "0", "asked": "0"}


def upgrade() -> None:
    """Add columns and the table, and fill it from the inventories that are there."""
    for name, default in _COUNTS.items():
        op.add_column("boot_tickets", sa.Column(name, sa.Integer(), nullable=False, server_default=default))
    op.add_column("boot_tickets", sa.Column("refused", sa.Text(), nullable=False, server_default=""))
    op.add_column("boot_tickets", sa.Column("failures", sa.Text(), nullable=False, server_default="[]"))
    macs = op.create_table(
        "node_macs",
        sa.Column("mac", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_node_macs_node"),
        sa.PrimaryKeyConstraint("mac", "node", name="pk_node_macs"),
    )
    op.create_index("ix_node_macs_node", "node_macs", ["node"])
    for node, document in op.get_bind().execute(sa.text("SELECT node, document FROM inventories")).all():
        digits = {re.sub(r"[:. -]", "", mac).lower() for mac in json.loads(document)["macs"]}
        known = sorted(one for one in digits if re.fullmatch(r"[0-9a-f]{12}", one))
        if known:
            op.bulk_insert(macs, [{"node": node, "mac": ":".join(re.findall("..", one))} for one in known])
