"""Channels and how they move, promotions, soaks, and who made a release."""

import json

import sqlalchemy as sa
from alembic import op

revision = "v0011"
down_revision = "v0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and tell of each release what it is called."""
    _releases()
    _channels()
    _promotions()
    _soaks()


def _releases() -> None:
    for column in (
        sa.Column("name", sa.Text(), nullable=False, server_default=""),
        sa.Column("hardware_class", sa.Text(), nullable=False, server_default=""),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("made_by", sa.Text(), nullable=True),
    ):
        op.add_column("releases", column)
    with op.batch_alter_table("releases") as releases:
        releases.alter_column("name", server_default=None)
        releases.alter_column("hardware_class", server_default=None)
        releases.create_index("ix_releases_made_at", ["made_at"])
    table = sa.table("releases", *(sa.column(name) for name in ("digest", "document", "name", "hardware_class")))
    connection = op.get_bind()
    for digest, document in connection.execute(sa.select(table.c.digest, table.c.document)).all():
        release = json.loads(document)
        told = {"name": release["name"], "hardware_class": release["hardware_class"]["name"]}
        connection.execute(sa.update(table).where(table.c.digest == digest).values(**told))


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


def _promotions() -> None:
    op.create_table(
        "promotions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("hardware_class", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["release"], ["releases.digest"], name="fk_promotions_release"),
        sa.PrimaryKeyConstraint("id", name="pk_promotions"),
    )
    op.create_index("ix_promotions_ended_at", "promotions", ["ended_at"])
    op.create_index("ix_promotions_channel_state", "promotions", ["channel", "state"])
    op.create_table(
        "promotion_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("promotion", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["promotion"], ["promotions.id"], name="fk_promotion_lines_promotion"),
        sa.PrimaryKeyConstraint("id", name="pk_promotion_lines"),
    )
    op.create_index("ix_promotion_lines_promotion_id", "promotion_lines", ["promotion", "id"])


def _soaks() -> None:
    op.create_table(
        "soaks",
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["release"], ["releases.digest"], name="fk_soaks_release"),
        sa.PrimaryKeyConstraint("release", name="pk_soaks"),
    )
    op.create_table(
        "node_soaks",
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["release"], ["releases.digest"], name="fk_node_soaks_release"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_node_soaks_node"),
        sa.PrimaryKeyConstraint("release", "node", name="pk_node_soaks"),
    )
    op.create_table(
        "soak_turn",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_soak_turn"),
    )
