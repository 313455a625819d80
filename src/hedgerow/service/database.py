"""A party's records: datasets and jobs. SQLite by default, any SQLAlchemy database by URL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from sqlalchemy import JSON, DateTime, Engine, Integer, String, create_engine, event, inspect, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from ..errors import HedgerowError
from .clock import now


class Base(DeclarativeBase):
    """All tables."""


class Meta(Base):
    """The version of the tables."""

    __tablename__ = "meta"
    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[int] = mapped_column(Integer)


class Dataset(Base):
    """An upload, and the dataset it became: uploading → complete → registered → withdrawn."""

    __tablename__ = "datasets"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(63), index=True)
    owner: Mapped[str] = mapped_column(String(63))
    state: Mapped[str] = mapped_column(String(16))
    temporary: Mapped[bool] = mapped_column()
    manifest: Mapped[dict[str, Any]] = mapped_column(JSON)
    manifest_hash: Mapped[str] = mapped_column(String(64))
    left_hash: Mapped[str | None] = mapped_column(String(64), default=None)
    right_hash: Mapped[str | None] = mapped_column(String(64), default=None)
    created: Mapped[datetime.datetime] = mapped_column(DateTime(timezone=True), default=now)


class Job(Base):
    """A job: waiting → queued → running → written → done, or failed, or cancelled."""

    __tablename__ = "jobs"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    asker: Mapped[str] = mapped_column(String(63))
    state: Mapped[str] = mapped_column(String(16), index=True)
    spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    spec_hash: Mapped[str] = mapped_column(String(64))
    attempt: Mapped[int] = mapped_column(Integer, default=0)
    progress: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    error: Mapped[str | None] = mapped_column(String(500), default=None)
    created: Mapped[datetime.datetime] = mapped_column(DateTime(timezone=True), default=now)
    ended: Mapped[datetime.datetime | None] = mapped_column(DateTime(timezone=True), default=None)


def _first_tables(engine: Engine) -> None:
    Base.metadata.create_all(engine)


MIGRATIONS: list[Callable[[Engine], None]] = [_first_tables]
"""Step k brings the tables from version k to k + 1."""


def open_database(url: str) -> Engine:
    """Connect, and bring the tables to the newest version."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def _durable(connection: Any, _: Any) -> None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA busy_timeout=10000")

    version = 0
    if inspect(engine).has_table("meta"):
        with Session(engine) as session:
            version = session.scalar(select(Meta.value).where(Meta.key == "version")) or 0
    if version > len(MIGRATIONS):
        raise HedgerowError(f"the database has version {version}; this program knows {len(MIGRATIONS)}: upgrade it")
    for step in range(version, len(MIGRATIONS)):
        MIGRATIONS[step](engine)
        with Session(engine) as session, session.begin():
            session.merge(Meta(key="version", value=step + 1))
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    return engine
