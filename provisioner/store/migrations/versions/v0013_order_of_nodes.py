"""Nodes by place: lists come page by page in that order."""

from alembic import op

revision = "v0013"
down_revision = "v0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_nodes_rack_position_name", "nodes", ["rack", "position", "name"])
