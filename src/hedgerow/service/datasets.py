"""Datasets at one party: uploaded in chunks, registered at all three parties or at none, withdrawn by their owner.

Party 0 leads: a dataset counts as registered once party 0 has seen that all three hold matching shares of it and has
written that down. The others hear of it at once, or ask when they were away.
"""

from __future__ import annotations

import datetime
import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ..errors import HedgerowError, InputError
from ..tables import Schema
from .audit import AuditLog
from .clock import now
from .consortium import check_name
from .database import Dataset
from .peers import Answer, PartyConnections
from .refusal import Conflict, Forbidden, Unknown
from .settings import PartySettings
from .spec import digest
from .vault import CHUNK_BYTES, Vault

LEADER = 0
SALT = re.compile("[0-9a-f]{64}")
EXPIRY = datetime.timedelta(hours=24)
MAX_CELLS = 1 << 34
log = logging.getLogger("hedgerow.datasets")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a certificate says is calling: a member with roles, or a party."""

    name: str
    roles: tuple[str, ...]
    party: int | None = None

    def need(self, *roles: str) -> None:
        """Refuse callers without one of the roles."""
        if not set(roles) & set(self.roles):
            raise Forbidden(f"this needs a certificate with the role {' or '.join(roles)}")


class Datasets:
    """The datasets of one party."""

    def __init__(
        self, settings: PartySettings, engine: Engine, vault: Vault, audit: AuditLog, peers: PartyConnections
    ) -> None:
        self._settings, self._engine, self._vault, self._audit, self._peers = settings, engine, vault, audit, peers
        self._registering = threading.Lock()

    def begin(self, caller: Caller, identifier: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Announce an upload; announcing the same again tells which chunks have arrived."""
        caller.need("owner", "analyst") if manifest["temporary"] else caller.need("owner")
        check_name(manifest["name"], "dataset")
        rows, columns = manifest["rows"], manifest["columns"]
        if not 1 <= rows <= self._settings.max_rows:
            raise InputError(f"{rows} rows; this party takes 1 to {self._settings.max_rows}")
        if rows * columns > MAX_CELLS:
            raise InputError(f"{rows} rows of {columns} columns are too much for one dataset")
        if not manifest["temporary"] and len(Schema.of_entries(manifest["schema"]).columns) != columns:
            raise InputError("the schema does not have as many columns as the shares")
        with Session(self._engine) as session, session.begin():
            known = session.get(Dataset, identifier)
            if known is None:
                session.add(
                    Dataset(
                        id=identifier,
                        name=manifest["name"],
                        owner=caller.name,
                        state="uploading",
                        temporary=manifest["temporary"],
                        manifest=manifest,
                        manifest_hash=digest(manifest),
                    )
                )
            elif known.owner != caller.name or known.manifest_hash != digest(manifest) or known.state != "uploading":
                raise Conflict("an upload with this identifier exists already")
        if known is None:
            self._audit.append(caller.name, "upload", dataset=identifier, name=manifest["name"], rows=rows)
        return {"chunks": self._vault.chunks(identifier), "chunk_bytes": CHUNK_BYTES}

    def _mine(self, session: Session, caller: Caller, identifier: str, state: str) -> Dataset:
        dataset = session.get(Dataset, identifier)
        if dataset is None or dataset.owner != caller.name:
            raise Unknown("there is no such upload of yours")
        if dataset.state != state:
            raise Conflict(f"the upload is {dataset.state}")
        return dataset

    def chunk(self, caller: Caller, identifier: str, number: int, content: bytes) -> None:
        """Take one chunk."""
        with Session(self._engine) as session:
            dataset = self._mine(session, caller, identifier, "uploading")
            size = share_size(dataset.manifest)
        expected = min(CHUNK_BYTES, size - number * CHUNK_BYTES)
        if expected <= 0 or len(content) != expected:
            raise InputError(f"chunk {number} must have {max(0, expected)} bytes, not {len(content)}")
        self._vault.put_chunk(identifier, number, content)

    def finish(self, caller: Caller, identifier: str, checksum: str, salts: Sequence[str]) -> dict[str, Any]:
        """All chunks are here: check and keep them. Finishing again is harmless."""
        if any(not SALT.fullmatch(salt) for salt in salts):
            raise InputError("a salt is 64 hexadecimal digits")
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is not None and dataset.owner == caller.name and dataset.state in ("complete", "registered"):
                return {"state": dataset.state}
            dataset = self._mine(session, caller, identifier, "uploading")
            manifest = dataset.manifest
        size = share_size(manifest)
        if not self._vault.dataset(identifier).exists():
            self._vault.assemble(identifier, -(-size // CHUNK_BYTES), size, checksum)
        left, right = self._vault.side_hashes(
            identifier, manifest["rows"], manifest["columns"], [bytes.fromhex(salt) for salt in salts]
        )
        with Session(self._engine) as session, session.begin():
            dataset = self._mine(session, caller, identifier, "uploading")
            dataset.state, dataset.left_hash, dataset.right_hash = "complete", left, right
        return {"state": "complete"}

    def peer_view(self, identifier: str) -> dict[str, Any]:
        """What another party may know of an upload: its state and hashes, to compare."""
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is None:
                raise Unknown("no such dataset")
            return {
                "state": dataset.state,
                "owner": dataset.owner,
                "manifest_hash": dataset.manifest_hash,
                "left_hash": dataset.left_hash,
                "right_hash": dataset.right_hash,
            }

    def check_together(self, owner: str, identifier: str) -> None:
        """At party 0: all three hold the whole upload, and neighbours hold the same summands of it."""
        views = [self.peer_view(identifier)]
        for party in self._settings.others:
            views.append(self._peers.call(party, "GET", f"/v1/peer/datasets/{identifier}"))
        for party, view in enumerate(views):
            following = views[(party + 1) % 3]
            if view["state"] not in ("complete", "claimed") or view["owner"] != owner:
                raise Conflict(f"not yet: party {party} does not have the whole upload")
            if view["manifest_hash"] != views[0]["manifest_hash"] or view["right_hash"] != following["left_hash"]:
                raise Conflict("mismatch: the parties' shares do not belong together; share the table again")

    def register(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """At party 0: check that all three hold matching shares, then make the dataset visible."""
        caller.need("owner")
        if self._settings.number != LEADER:
            raise Conflict(f"datasets are registered at party {LEADER}")
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is None or dataset.owner != caller.name:
                raise Unknown("there is no such upload of yours")
            if dataset.state == "registered":
                return {"state": "registered"}
            if self._mine(session, caller, identifier, "complete").temporary:
                raise Conflict("this upload was meant for prediction")
        self.check_together(caller.name, identifier)
        with self._registering, Session(self._engine) as session, session.begin():
            dataset = self._mine(session, caller, identifier, "complete")
            taken = select(Dataset).where(Dataset.name == dataset.name, Dataset.state.in_(("registered", "withdrawn")))
            for other in session.scalars(taken):
                # Rules speak of names, so a name belongs to its first owner for good.
                if other.state == "registered" or other.owner != caller.name:
                    raise Conflict(f"there is a dataset '{dataset.name}' already; withdraw it or take another name")
            dataset.state = "registered"
            name = dataset.name
        self._audit.append(caller.name, "register", dataset=identifier, name=name)
        for party in self._settings.others:
            try:
                self._peers.call(party, "POST", f"/v1/peer/datasets/{identifier}/registered")
            except HedgerowError as error:
                log.warning("a party will learn of a dataset later", extra={"peer": party, "reason": str(error)})
        return {"state": "registered"}

    def mark_registered(self, identifier: str) -> None:
        """Party 0 says that a dataset is registered."""
        with Session(self._engine) as session, session.begin():
            dataset = session.get(Dataset, identifier)
            if dataset is None or dataset.state != "complete" or dataset.temporary:
                return
            dataset.state = "registered"
            owner, name = dataset.owner, dataset.name
        self._audit.append(owner, "register", dataset=identifier, name=name)

    def catch_up(self) -> None:
        """Ask party 0 about uploads whose registration this party may have missed."""
        if self._settings.number == LEADER:
            return
        with Session(self._engine) as session:
            states = ("complete", "registered")
            query = select(Dataset.id).where(Dataset.state.in_(states), Dataset.temporary.is_(False))
            open_ones = list(session.scalars(query))
        for identifier in open_ones:
            try:
                state = self._peers.call(LEADER, "GET", f"/v1/peer/datasets/{identifier}")["state"]
            except Answer:
                continue
            if state == "registered":
                self.mark_registered(identifier)
            elif state == "withdrawn":
                self._forget(identifier, "withdrawn")

    def expire(self) -> None:
        """Uploads that were never used are removed after a day."""
        with Session(self._engine) as session:
            waiting = Dataset.state.in_(("uploading", "complete", "claimed"))
            query = select(Dataset.id).where(waiting, Dataset.created < now() - EXPIRY)
            old = list(session.scalars(query))
        for identifier in old:
            self._forget(identifier, "dropped")

    def _forget(self, identifier: str, state: str) -> None:
        """Remove shares; the record stays, so that the identifier is not used again."""
        with Session(self._engine) as session, session.begin():
            dataset = session.get(Dataset, identifier)
            if dataset is not None:
                dataset.state = state
        self._vault.discard(identifier)

    def withdraw(self, caller: Caller, name: str) -> None:
        """Remove the caller's dataset and its shares. Models trained on it stay."""
        with Session(self._engine) as session, session.begin():
            query = select(Dataset).where(
                Dataset.name == name, Dataset.owner == caller.name, Dataset.state.in_(("registered", "complete"))
            )
            found = list(session.scalars(query))
            if not found:
                raise Unknown("there is no such dataset of yours")
            for dataset in found:
                dataset.state = "withdrawn"
            identifiers = [dataset.id for dataset in found]
        for identifier in identifiers:
            self._vault.discard(identifier)
        self._audit.append(caller.name, "withdraw", name=name)

    def listing(self, caller: Caller) -> list[dict[str, Any]]:
        """Datasets the caller owns or may train on."""
        with Session(self._engine) as session:
            found = session.scalars(select(Dataset).where(Dataset.state == "registered").order_by(Dataset.name))
            return [
                {
                    "name": d.name,
                    "owner": d.owner,
                    "rows": d.manifest["rows"],
                    "schema": d.manifest["schema"],
                    "created": d.created.isoformat(),
                }
                for d in found
                if d.owner == caller.name or self._settings.allow(caller.name, "train", [d.name])
            ]

    def registered(self, name: str) -> Dataset:
        """A dataset by name."""
        with Session(self._engine) as session:
            query = select(Dataset).where(Dataset.name == name, Dataset.state == "registered")
            dataset = session.scalar(query)
            if dataset is None:
                raise Unknown(f"there is no dataset '{name[:63]}'")
            session.expunge(dataset)
            return dataset

    def temporary(self, caller: Caller, identifier: str, state: str = "complete") -> Dataset:
        """The caller's temporary upload: complete, or claimed by a job."""
        with Session(self._engine) as session:
            dataset = self._mine(session, caller, identifier, state)
            if not dataset.temporary:
                raise Conflict("this upload is not meant for prediction")
            session.expunge(dataset)
            return dataset

    def claim(self, caller: Caller, identifier: str) -> None:
        """An upload serves one job."""
        with self._registering, Session(self._engine) as session, session.begin():
            self._mine(session, caller, identifier, "complete").state = "claimed"

    def drop(self, identifier: str) -> None:
        """Remove a temporary upload after its job."""
        self._forget(identifier, "dropped")


def share_size(manifest: dict[str, Any]) -> int:
    """Bytes of one party's shares: two summands of eight bytes a value."""
    return 16 * int(manifest["rows"]) * int(manifest["columns"])
