"""A copy of all that a party holds, and back again, also on another machine.

The copy has the records as a SQLite file, whatever database the party uses, and the share files as they lie there:
sealed ones stay sealed, and the storage key is not among them. It is taken while the party runs: records first, so that
every record of the copy has its files, but for those removed meanwhile, which the comparison after a restore finds.
"""

import io
import json
import shutil
import tarfile
import tempfile
from pathlib import Path

from sqlalchemy import Engine, insert, select

from ..errors import InputError
from ..tables.private import write_private
from .clock import now
from .database import Base, open_database
from .settings import PartySettings

RECORDS, ABOUT = "records.sqlite", "about.json"
FILES = ("audit.jsonl", "countersigned.json", "heads.json")
DIRECTORIES = ("datasets", "models", "results", "uploads")


def back_up(settings: PartySettings, target: Path) -> int:
    """Write a party's copy to a new tar file of mode 0600; returns its size."""
    if target.exists():
        raise InputError(f"{target} exists already: choose another place or remove it")
    unfinished = target.with_name(f".{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    try:
        with tempfile.TemporaryDirectory() as place, tarfile.open(unfinished, "w") as archive:
            records = Path(place) / RECORDS
            copied = open_database(f"sqlite:///{records}")
            engine = open_database(settings.database)
            _copy_records(engine, copied)
            engine.dispose()
            with copied.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            copied.dispose()
            about = json.dumps({"party": settings.number, "consortium": settings.consortium.name}).encode()
            _add_bytes(archive, about, ABOUT)
            archive.add(records, RECORDS)
            for name in FILES:
                if (settings.data / name).exists():
                    _add_file(archive, settings.data / name, name)
            for name in DIRECTORIES:
                for path in sorted((settings.data / name).rglob("*")):
                    if path.is_file() and not path.name.startswith("."):
                        _add_file(archive, path, str(path.relative_to(settings.data)))
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return target.stat().st_size


def _add_file(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """One file, read at once where it may grow or go meanwhile."""
    if name in FILES:
        _add_bytes(archive, path.read_bytes(), name)
        return
    try:
        archive.add(path, name)
    except FileNotFoundError:
        return


def _add_bytes(archive: tarfile.TarFile, content: bytes, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))


def _check_whose(archive: tarfile.TarFile, settings: PartySettings, source: Path) -> None:
    """Shares of two parties on one machine would be the end of their secrecy."""
    try:
        file = archive.extractfile(ABOUT)
        about = json.loads(file.read()) if file else {}
    except (KeyError, ValueError):
        about = {}
    if about.get("party") not in (0, 1, 2):
        raise InputError(f"{source} is no copy of a party")
    if (about["party"], about["consortium"]) != (settings.number, settings.consortium.name):
        raise InputError(f"{source} is a copy of party {about['party']} of the consortium '{about['consortium']}'")


def _copy_records(source: Engine, target: Engine) -> None:
    with source.connect() as reading, target.begin() as writing:
        for table in Base.metadata.sorted_tables:
            writing.execute(table.delete())
            for rows in reading.execute(select(table)).mappings().partitions(500):
                writing.execute(insert(table), [dict(row) for row in rows])


def restore(settings: PartySettings, source: Path) -> None:
    """Put a copy into an empty data directory and database; the next start compares it with the other parties."""
    if settings.data.exists() and any(settings.data.iterdir()):
        raise InputError(f"{settings.data} is not empty: move it aside first")
    if not source.exists():
        raise InputError(f"there is no file {source}")
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with tarfile.open(source) as archive:
            _check_whose(archive, settings, source)
            archive.extractall(settings.data, filter="data")
        if not (settings.data / RECORDS).exists():
            raise InputError(f"{source} is no copy of a party")
        copied = open_database(f"sqlite:///{settings.data / RECORDS}")
        engine = open_database(settings.database)
        with engine.connect() as connection:
            if any(connection.execute(select(table).limit(1)).first() for table in Base.metadata.sorted_tables):
                raise InputError("the database is not empty: empty it, or name another one, first")
        _copy_records(copied, engine)
        copied.dispose()
        engine.dispose()
    except BaseException as error:
        shutil.rmtree(settings.data, ignore_errors=True)
        if isinstance(error, tarfile.TarError):
            raise InputError(f"{source} is no copy of a party, or is damaged") from None
        raise
    for path in [*settings.data.glob(f"{RECORDS}*"), settings.data / ABOUT]:
        path.unlink()
    for path in settings.data.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    write_private(settings.data / "restored", now().isoformat())
