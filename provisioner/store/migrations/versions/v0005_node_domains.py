"""What nodes share with others: standby power, box, power feed."""

import sqlalchemy as sa
from alembic import op

revision = "v0005"
down_revision = "v0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; nobody has said anything yet."""
    for name in ("domain_tray", "domain_chassis", "domain_power"):
        op.add_column("nodes", sa.Column(name, sa.Text(), nullable=True))
