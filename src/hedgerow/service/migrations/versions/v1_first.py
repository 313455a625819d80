"""Datasets and jobs, as the first release made them."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "1", None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table("meta", sa.Column("key", sa.String(40), primary_key=True), sa.Column("value", sa.Integer))
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("owner", sa.String(63), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("temporary", sa.Boolean, nullable=False),
        sa.Column("manifest", sa.JSON, nullable=False),
        sa.Column("manifest_hash", sa.String(64), nullable=False),
        sa.Column("left_hash", sa.String(64)),
        sa.Column("right_hash", sa.String(64)),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_datasets_name", "datasets", ["name"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("asker", sa.String(63), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("spec_hash", sa.String(64), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("progress", sa.JSON, nullable=False),
        sa.Column("error", sa.String(500)),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_jobs_state", "jobs", ["state"])
