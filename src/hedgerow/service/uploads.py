"""Uploads at one party: tables that come in chunks, until all of their shares are there."""

import contextlib
import datetime
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from ..errors import InputError
from ..tables import Schema
from .audit import AuditLog
from .caller import Caller
from .clock import now
from .consortium import check_name
from .database import Dataset
from .disclosure import OwnerRules
from .refusal import Conflict, NoRoom, NotFound
from .settings import PartySettings
from .spec import digest
from .vault import CHUNK_BYTES, Vault

SALT = re.compile("[0-9a-f]{64}")
STORED = ("uploading", "complete", "claimed", "registered")
"""States in which shares lie on the disk, or are about to."""
MOST_KEPT = 1000
"""Uploads and datasets of one member."""
MAX_CELLS = 1 << 34


class Uploads:
    """The uploads of one party."""

    def __init__(self, settings: PartySettings, engine: Engine, vault: Vault, audit: AuditLog) -> None:
        self._settings, self._engine, self._vault, self._audit = settings, engine, vault, audit
        self._announcing, self._assembling = threading.Lock(), threading.Lock()
        self._assembled: set[str] = set()

    def begin(self, caller: Caller, identifier: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Announce an upload; announcing the same again tells which chunks have arrived."""
        caller.need("owner", "analyst") if manifest["temporary"] else caller.need("owner")
        self._check_manifest(manifest)
        keep = manifest["keep_days"]
        with self._announcing, Session(self._engine) as session, session.begin():
            known = session.get(Dataset, identifier)
            if known is None:
                self._check_room(session, caller, share_size(manifest))
                session.add(
                    Dataset(
                        id=identifier,
                        name=manifest["name"],
                        owner=caller.name,
                        state="uploading",
                        temporary=manifest["temporary"],
                        manifest=manifest,
                        manifest_hash=digest(manifest),
                        rules=manifest["rules"] or None,
                        expires=now() + datetime.timedelta(days=keep) if keep else None,
                        size=share_size(manifest),
                    )
                )
            elif known.owner != caller.name or known.manifest_hash != digest(manifest) or known.state != "uploading":
                raise Conflict("an upload with this identifier exists already")
        if known is None:
            name = f"{caller.name}/{manifest['name']}"
            self._audit.append(caller.name, "upload", dataset=identifier, name=name, rows=manifest["rows"])
        return {"chunks": self._vault.chunks(identifier), "chunk_bytes": CHUNK_BYTES}

    def _check_manifest(self, manifest: dict[str, Any]) -> None:
        """Refuse what cannot be a table, or is too large for this party."""
        check_name(manifest["name"], "dataset")
        rows, columns = manifest["rows"], manifest["columns"]
        if not 1 <= rows <= self._settings.max_rows:
            raise InputError(f"{rows} rows; this party takes 1 to {self._settings.max_rows}")
        if rows * columns > MAX_CELLS:
            raise InputError(f"{rows} rows of {columns} columns are too much for one dataset")
        if not manifest["temporary"] and len(Schema.of_entries(manifest["schema"]).columns) != columns:
            raise InputError("the schema does not have as many columns as the shares")
        if manifest["temporary"] and (manifest["schema"] or manifest["rules"]):
            raise InputError("rows to be predicted have no schema and no rules of their own")
        OwnerRules.of_entry(manifest["rules"])

    def _check_room(self, session: Session, caller: Caller, size: int) -> None:
        """A member has a quota, and what all have announced must fit on the disk, while it is put together, too."""
        mine = select(func.count(), func.coalesce(func.sum(Dataset.size), 0))
        mine = mine.where(Dataset.owner == caller.name, Dataset.state.in_(STORED))
        number, held = session.execute(mine).one()
        if number >= MOST_KEPT:
            raise NoRoom(f"you have {number} uploads and datasets at party {self._settings.number}; withdraw some")
        coming = select(func.coalesce(func.sum(Dataset.size), 0)).where(Dataset.state == "uploading")
        awaited, quota = session.scalar(coming) or 0, self._settings.quota_bytes
        if held + size > quota:
            raise NoRoom(
                f"party {self._settings.number} keeps up to {quota:,} bytes for a member: you have {held:,} there and "
                f"announced {size:,}; withdraw something, or ask the party's operator"
            )
        if self._vault.free() - 2 * (awaited + size) < self._settings.reserve_bytes:
            raise NoRoom(f"party {self._settings.number} has no room for {size:,} bytes more on its disk")

    def chunk(self, caller: Caller, identifier: str, number: int, content: bytes) -> None:
        """Take one chunk."""
        with Session(self._engine) as session:
            dataset = own_upload(session, caller, identifier, "uploading")
            size = share_size(dataset.manifest)
        expected = min(CHUNK_BYTES, size - number * CHUNK_BYTES)
        if expected <= 0 or len(content) != expected:
            raise InputError(f"chunk {number} must have {max(0, expected)} bytes, not {len(content)}")
        if self._vault.free() - len(content) < self._settings.reserve_bytes:
            raise NoRoom(f"party {self._settings.number} has no room left on its disk")
        self._vault.put_chunk(identifier, number, content)

    def finish(self, caller: Caller, identifier: str, checksum: str, salts: Sequence[str]) -> dict[str, Any]:
        """All chunks are here: check and keep them. Finishing again is harmless."""
        if any(not SALT.fullmatch(salt) for salt in salts):
            raise InputError("a salt is 64 hexadecimal digits")
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is not None and dataset.owner == caller.name and dataset.state in ("complete", "registered"):
                return {"state": dataset.state}
            dataset = own_upload(session, caller, identifier, "uploading")
            manifest = dataset.manifest
        size = share_size(manifest)
        with self._alone(identifier):
            if not self._vault.dataset(identifier).exists():
                self._vault.assemble(identifier, -(-size // CHUNK_BYTES), size, checksum)
        left, right = self._vault.side_hashes(
            identifier, manifest["rows"], manifest["columns"], [bytes.fromhex(salt) for salt in salts]
        )
        with Session(self._engine) as session, session.begin():
            dataset = own_upload(session, caller, identifier, "uploading")
            dataset.state, dataset.left_hash, dataset.right_hash = "complete", left, right
        return {"state": "complete"}

    @contextlib.contextmanager
    def _alone(self, identifier: str) -> Iterator[None]:
        """Nobody else puts the same upload together meanwhile."""
        with self._assembling:
            if identifier in self._assembled:
                raise Conflict("the upload is being put together; ask again")
            self._assembled.add(identifier)
        try:
            yield
        finally:
            self._assembled.discard(identifier)


def own_upload(session: Session, caller: Caller, identifier: str, state: str) -> Dataset:
    """The caller's upload, if it is in this state."""
    dataset = session.get(Dataset, identifier)
    if dataset is None or dataset.owner != caller.name:
        raise NotFound("there is no such upload of yours")
    if dataset.state != state:
        raise Conflict(f"the upload is {dataset.state}")
    return dataset


def share_size(manifest: dict[str, Any]) -> int:
    """Bytes of one party's shares: two summands of eight bytes per value."""
    return 16 * int(manifest["rows"]) * int(manifest["columns"])
