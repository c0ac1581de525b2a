"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "v0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make every table."""
    _nodes()
    _events()
    _documents()
    _vault()
    _boots()
    _burn_ins()
    _bmcs()


def _nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rack", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("bmc_host", sa.Text(), nullable=False),
        sa.Column("bmc_port", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expected_serial", sa.Text(), nullable=True),
        sa.Column("serial", sa.Text(), nullable=True),
        sa.Column("uuid", sa.Text(), nullable=True),
        sa.Column("manufacturer", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("hardware_class", sa.Text(), nullable=True),
        sa.Column("release", sa.Text(), nullable=True),
        sa.Column("observed_image", sa.Text(), nullable=True),
        sa.Column("hold", sa.Text(), nullable=True),
        sa.Column("held_from", sa.Text(), nullable=True),
        sa.Column("visited", sa.Text(), nullable=False),
        sa.Column("serial_key", sa.Text(), nullable=True),
        sa.Column("uuid_key", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_nodes"),
    )
    op.create_index("ix_nodes_serial_key", "nodes", ["serial_key"])
    op.create_index("ix_nodes_state", "nodes", ["state"])
    op.create_index("ix_nodes_uuid_key", "nodes", ["uuid_key"])


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("from_state", sa.Text(), nullable=True),
        sa.Column("to_state", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_events_node"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_at", "events", ["at"])
    op.create_index("ix_events_node_id", "events", ["node", "id"])


def _documents() -> None:
    op.create_table(
        "releases",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_releases"),
    )
    op.create_table(
        "inventories",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_inventories_node"),
        sa.PrimaryKeyConstraint("node", name="pk_inventories"),
    )
    op.create_table(
        "progress",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("doing", sa.Text(), nullable=False),
        sa.Column("percent", sa.Double(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_progress_node"),
        sa.PrimaryKeyConstraint("node", name="pk_progress"),
    )


def _vault() -> None:
    op.create_table(
        "vault",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("factory", sa.LargeBinary(), nullable=True),
        sa.Column("current", sa.LargeBinary(), nullable=True),
        sa.Column("proposed", sa.LargeBinary(), nullable=True),
        sa.Column("sending", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_vault_node"),
        sa.PrimaryKeyConstraint("node", name="pk_vault"),
    )
    op.create_table(
        "cipher_check",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cipher_check"),
    )
    op.create_table(
        "tokens",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
        sa.UniqueConstraint("hash", name="uq_tokens_hash"),
    )


def _boots() -> None:
    op.create_table(
        "boot_tickets",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("key_hash", sa.LargeBinary(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=False),
        sa.Column("image", sa.Text(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("served", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=True),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("booted_image", sa.Text(), nullable=True),
        sa.Column("booted_root", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_boot_tickets_node"),
        sa.PrimaryKeyConstraint("node", "generation", "attempt", name="pk_boot_tickets"),
        sa.UniqueConstraint("key_hash", name="uq_boot_tickets_key_hash"),
        sa.UniqueConstraint("token_hash", name="uq_boot_tickets_token_hash"),
    )


def _burn_ins() -> None:
    op.create_table(
        "burn_in_runs",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_burn_in_runs_node"),
        sa.PrimaryKeyConstraint("number", name="pk_burn_in_runs"),
        sa.UniqueConstraint("run", name="uq_burn_in_runs_run"),
    )
    op.create_index("ix_burn_in_runs_node_number", "burn_in_runs", ["node", "number"])
    op.create_table(
        "check_results",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["burn_in_runs.run"], name="fk_check_results_run"),
        sa.PrimaryKeyConstraint("number", name="pk_check_results"),
        sa.UniqueConstraint("run", "attempt", "item", name="uq_check_results_run_attempt_item"),
    )
    op.create_table(
        "heartbeats",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("item", sa.Text(), nullable=True),
        sa.Column("percent", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_heartbeats_node"),
        sa.PrimaryKeyConstraint("node", name="pk_heartbeats"),
    )


def _bmcs() -> None:
    op.create_table(
        "login_failures",
        sa.Column("bmc", sa.Text(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("bmc", "username", name="pk_login_failures"),
    )
    op.create_table(
        "pinned_certificates",
        sa.Column("bmc", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("bmc", name="pk_pinned_certificates"),
    )
    op.create_table(
        "write_leases",
        sa.Column("bmc", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("bmc", name="pk_write_leases"),
    )
    op.create_table(
        "updates",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("component", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("intended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("task", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name="fk_updates_node"),
        sa.PrimaryKeyConstraint("node", "component", "version", name="pk_updates"),
    )
