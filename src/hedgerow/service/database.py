"""A party's records: datasets, jobs, what was used and charged. SQLite by default, any SQLAlchemy database by URL."""

import datetime
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import JSON, BigInteger, DateTime, Engine, Index, Integer, String, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from ..errors import HedgerowError, InputError
from .clock import now


class Base(DeclarativeBase):
    """All tables."""


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
    rules: Mapped[dict[str, Any] | None] = mapped_column(JSON, default=None)
    expires: Mapped[datetime.datetime | None] = mapped_column(DateTime(timezone=True), default=None)
    size: Mapped[int] = mapped_column(BigInteger, default=0)

    @property
    def full_name(self) -> str:
        """The name by which rules and jobs speak of a dataset."""
        return f"{self.owner}/{self.name}"


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
    approvals: Mapped[dict[str, Any] | None] = mapped_column(JSON, default=None)
    fetched: Mapped[datetime.datetime | None] = mapped_column(DateTime(timezone=True), default=None)


class Use(Base):
    """A job that uses a dataset, for its owner to see and for budgets."""

    __tablename__ = "uses"
    job: Mapped[str] = mapped_column(String(32), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(32), primary_key=True, index=True)
    owner: Mapped[str] = mapped_column(String(63), index=True)
    asker: Mapped[str] = mapped_column(String(63))
    action: Mapped[str] = mapped_column(String(16))
    created: Mapped[datetime.datetime] = mapped_column(DateTime(timezone=True), default=now)


class Charge(Base):
    """Opened predictions that a job counts for, on the UTC day it was accepted."""

    __tablename__ = "charges"
    job: Mapped[str] = mapped_column(String(32), primary_key=True)
    who: Mapped[str] = mapped_column(String(63))
    day: Mapped[str] = mapped_column(String(10))
    amount: Mapped[int] = mapped_column(Integer)
    __table_args__ = (Index("ix_charges_who_day", "who", "day"),)


def open_database(url: str) -> Engine:
    """Connect, and bring the tables to the newest version. What is wrong with the database is said in one line."""
    try:
        known = make_url(url)
        shown = known.render_as_string(hide_password=True)
        # Opening a file is cheap, a server is asked less often; connections beyond these are closed after use.
        kept = 2 if known.get_backend_name() == "sqlite" else 5
        engine = create_engine(url, pool_pre_ping=True, pool_size=kept, max_overflow=40)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        driver = getattr(error, "name", None) or url.partition(":")[0]
        remedy = "pip install 'hedgerow[postgres]', and write postgresql+psycopg://…"
        raise InputError(f"there is no driver '{driver}' for the database: {remedy}") from None
    except ArgumentError:
        raise InputError("the database's URL cannot be read; write, say, postgresql+psycopg://user@host/name") from None
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def _durable(connection: Any, _: Any) -> None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA busy_timeout=10000")

    try:
        _migrate(engine)
    except SQLAlchemyError as error:
        raise HedgerowError(f"the database {shown} cannot be used: {_problem(error)}") from None
    return engine


def _problem(error: SQLAlchemyError) -> str:
    """The first line of what the driver said, which names host, user and kind of problem, never a password."""
    said = str(getattr(error, "orig", None) or error).strip().splitlines()
    return said[0][:300] if said else type(error).__name__


def _migrate(engine: Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    newest = ScriptDirectory.from_config(config).get_current_head()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        tables = inspect(connection).get_table_names()
        if "meta" in tables and "alembic_version" not in tables:
            # Written before Alembic looked after the tables.
            command.stamp(config, "1")
        try:
            command.upgrade(config, "head")
        except CommandError:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            problem = f"the database has version {found}; this program knows {newest}: upgrade the program"
            raise HedgerowError(problem) from None
