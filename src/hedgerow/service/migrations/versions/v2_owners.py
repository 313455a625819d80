"""Datasets are named by their owners; rules, approvals, what was used and charged, and times to keep things."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision, down_revision = "2", "1"


def upgrade() -> None:
    """Add columns and tables, then fill owners in."""
    op.add_column("datasets", sa.Column("rules", sa.JSON))
    op.add_column("datasets", sa.Column("expires", sa.DateTime(timezone=True)))
    op.add_column("datasets", sa.Column("size", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("approvals", sa.JSON))
    op.add_column("jobs", sa.Column("fetched", sa.DateTime(timezone=True)))
    op.create_table(
        "uses",
        sa.Column("job", sa.String(32), primary_key=True),
        sa.Column("dataset", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(63), nullable=False),
        sa.Column("asker", sa.String(63), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_uses_owner", "uses", ["owner"])
    op.create_index("ix_uses_dataset", "uses", ["dataset"])
    op.create_table(
        "charges",
        sa.Column("job", sa.String(32), primary_key=True),
        sa.Column("who", sa.String(63), nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("amount", sa.Integer, nullable=False),
    )
    op.create_index("ix_charges_who_day", "charges", ["who", "day"])
    _fill_owners_in()
    op.execute("DELETE FROM meta")
    op.execute("INSERT INTO meta (key, value) VALUES ('version', 2)")


def _fill_owners_in() -> None:
    """Jobs named datasets by bare names; now by ``owner/name``. What used a dataset is noted for its owner."""
    connection = op.get_bind()
    datasets = sa.table("datasets", sa.column("id"), sa.column("name"), sa.column("owner"))
    jobs = sa.table(
        "jobs",
        sa.column("id", sa.String),
        sa.column("kind"),
        sa.column("asker"),
        sa.column("spec", sa.JSON),
        sa.column("created", sa.DateTime(timezone=True)),
    )
    uses = sa.table(
        "uses",
        sa.column("job"),
        sa.column("dataset"),
        sa.column("owner"),
        sa.column("asker"),
        sa.column("action"),
        sa.column("created", sa.DateTime(timezone=True)),
    )
    owners = {row.id: (row.owner, row.name) for row in connection.execute(sa.select(datasets))}
    sized = sa.table("datasets", sa.column("id"), sa.column("manifest", sa.JSON), sa.column("size"))
    for row in connection.execute(sa.select(sized.c.id, sized.c.manifest)).all():
        size = 16 * row.manifest["rows"] * row.manifest["columns"]
        connection.execute(sa.update(sized).where(sized.c.id == row.id).values(size=size))
    for job in connection.execute(sa.select(jobs).where(jobs.c.kind == "train")).all():
        spec: dict[str, Any] = json.loads(job.spec) if isinstance(job.spec, str) else job.spec
        used = [identifier for _, identifier in spec["datasets"] if identifier in owners]
        named = [["/".join(owners[i]) if i in owners else name, i] for name, i in spec["datasets"]]
        connection.execute(sa.update(jobs).where(jobs.c.id == job.id).values(spec=spec | {"datasets": named}))
        for identifier in dict.fromkeys(used):
            entry = {"job": job.id, "dataset": identifier, "owner": owners[identifier][0], "asker": job.asker}
            connection.execute(sa.insert(uses).values(**entry, action="train", created=job.created))
