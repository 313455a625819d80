"""Datasets at one party: uploaded in chunks, registered at all three parties or at none, withdrawn by their owner.

Party 0 leads: a dataset counts as registered once party 0 has seen that all three hold matching shares of it and has
written that down. The others hear of it at once, or ask when they were away.
"""

import datetime
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ..errors import HedgerowError
from .audit import AuditLog
from .caller import Caller
from .clock import now
from .consortium import check_name
from .database import Dataset
from .disclosure import OwnerRules
from .peers import PartyConnections
from .refusal import Conflict, NotFound, Reason
from .settings import PartySettings
from .spec import digest
from .uploads import Uploads, own_upload
from .vault import Vault

LEADER = 0
BATCH = 1000
"""Identifiers in one question to another party."""
EXPIRY = datetime.timedelta(hours=24)
log = logging.getLogger("hedgerow.datasets")


class Datasets:
    """The datasets of one party."""

    def __init__(
        self, settings: PartySettings, engine: Engine, vault: Vault, audit: AuditLog, peers: PartyConnections
    ) -> None:
        self._settings, self._engine, self._vault, self._audit, self._peers = settings, engine, vault, audit, peers
        self.uploads = Uploads(settings, engine, vault, audit)
        self._registering = threading.Lock()
        self.on_withdrawal: Callable[[Sequence[str]], None] = lambda _: None
        """Hears of datasets that are gone."""

    def peer_view(self, identifier: str) -> dict[str, Any]:
        """What another party may know of an upload: its state and hashes, to compare."""
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is None:
                raise NotFound("no such dataset")
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
                raise Conflict(f"party {party} does not have the whole upload", Reason.NOT_YET)
            if view["manifest_hash"] != views[0]["manifest_hash"] or view["right_hash"] != following["left_hash"]:
                raise Conflict("the parties' shares do not belong together; share the table again", Reason.MISMATCH)

    def register(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """At party 0: check that all three hold matching shares, then make the dataset visible."""
        caller.need("owner")
        if self._settings.number != LEADER:
            raise Conflict(f"datasets are registered at party {LEADER}")
        with Session(self._engine) as session:
            dataset = session.get(Dataset, identifier)
            if dataset is None or dataset.owner != caller.name:
                raise NotFound("there is no such upload of yours")
            if dataset.state == "registered":
                return {"state": "registered"}
            if own_upload(session, caller, identifier, "complete").temporary:
                raise Conflict("this upload was meant for prediction")
        self.check_together(caller.name, identifier)
        with self._registering, Session(self._engine) as session, session.begin():
            dataset = own_upload(session, caller, identifier, "complete")
            taken = select(Dataset).where(Dataset.name == dataset.name, Dataset.owner == caller.name)
            if session.scalar(taken.where(Dataset.state == "registered")) is not None:
                raise Conflict(f"you have a dataset '{dataset.name}' already; withdraw it or take another name")
            dataset.state = "registered"
            name = dataset.full_name
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
            earlier = select(Dataset).where(Dataset.name == dataset.name, Dataset.owner == dataset.owner)
            for other in session.scalars(earlier.where(Dataset.state == "registered")):
                # Party 0 does not know it any more: it was restored from an older copy.
                other.state = "orphaned"
            dataset.state = "registered"
            owner, name = dataset.owner, dataset.full_name
        self._audit.append(owner, "register", dataset=identifier, name=name)

    def catch_up(self) -> None:
        """Ask party 0 about uploads whose registration this party may have missed."""
        if self._settings.number == LEADER:
            return
        with Session(self._engine) as session:
            states = ("complete", "registered")
            query = select(Dataset.id).where(Dataset.state.in_(states), Dataset.temporary.is_(False))
            open_ones = list(session.scalars(query))
        for start in range(0, len(open_ones), BATCH):
            asked = {"identifiers": open_ones[start : start + BATCH]}
            for identifier, state in self._peers.call(LEADER, "POST", "/v1/peer/datasets/states", json=asked).items():
                if state == "registered":
                    self.mark_registered(identifier)
                elif state == "withdrawn":
                    self._hide(identifier)

    def _hide(self, identifier: str) -> None:
        """Party 0 says that a dataset was withdrawn. Its word hides it; its owner, or this party's operator, removes
        it."""
        with Session(self._engine) as session, session.begin():
            dataset = session.get(Dataset, identifier)
            # Its owner may have withdrawn it here meanwhile.
            if dataset is None or dataset.state not in ("complete", "registered"):
                return
            dataset.state = "orphaned"
        self.on_withdrawal([identifier])

    def states(self, identifiers: Sequence[str]) -> dict[str, str]:
        """The states of datasets that this party knows."""
        with Session(self._engine) as session:
            query = select(Dataset.id, Dataset.state).where(Dataset.id.in_(identifiers))
            return {row.id: row.state for row in session.execute(query)}

    def expire(self) -> None:
        """Uploads that were never used are removed after a day, datasets when their owner's time for them is over."""
        with Session(self._engine) as session:
            waiting = Dataset.state.in_(("uploading", "complete", "claimed"))
            query = select(Dataset.id).where(waiting, Dataset.created < now() - EXPIRY)
            old = list(session.scalars(query))
            kept = Dataset.state.in_(("registered", "orphaned"))
            ended = select(Dataset).where(kept, Dataset.expires < now())
            over = [(dataset.id, dataset.owner, dataset.full_name) for dataset in session.scalars(ended)]
        for identifier in old:
            self._forget(identifier, "dropped")
        for identifier, owner, name in over:
            self._forget(identifier, "withdrawn")
            self._audit.append(owner, "expired", name=name)

    def _forget(self, identifier: str, state: str) -> None:
        """Remove shares; the record stays, so that the identifier is not used again."""
        with Session(self._engine) as session, session.begin():
            dataset = session.get(Dataset, identifier)
            if dataset is not None:
                dataset.state = state
        self._vault.discard(identifier)
        if state == "withdrawn":
            self.on_withdrawal([identifier])

    def withdraw(self, caller: Caller, name: str) -> None:
        """Remove the caller's dataset and its shares, and end the jobs that use it. Models trained on it stay.

        One that party 0 knew to be withdrawn before, or that another party lost, is removed as well.
        """
        with Session(self._engine) as session, session.begin():
            found = self._own(session, caller, name, ("registered", "complete", "orphaned"))
            for dataset in found:
                dataset.state = "withdrawn"
            identifiers = [dataset.id for dataset in found]
        for identifier in identifiers:
            self._vault.discard(identifier)
        self._audit.append(caller.name, "withdraw", name=f"{caller.name}/{bare_name(caller, name)}")
        self.on_withdrawal(identifiers)

    def _own(self, session: Session, caller: Caller, name: str, states: Sequence[str]) -> list[Dataset]:
        query = select(Dataset).where(
            Dataset.name == bare_name(caller, name), Dataset.owner == caller.name, Dataset.state.in_(states)
        )
        found = list(session.scalars(query))
        if not found:
            raise NotFound("there is no such dataset of yours")
        return found

    def set_rules(self, caller: Caller, name: str, rules: dict[str, Any]) -> None:
        """The owner's rules for a dataset from now on; jobs that have not started are judged by them."""
        OwnerRules.of_entry(rules)
        with Session(self._engine) as session, session.begin():
            for dataset in self._own(session, caller, name, ("registered", "withdrawn", "orphaned")):
                dataset.rules = rules or None
        self._audit.append(caller.name, "rules", name=f"{caller.name}/{bare_name(caller, name)}", rules=digest(rules))

    def listing(self, caller: Caller) -> list[dict[str, Any]]:
        """Datasets the caller owns or may train on; this party's operator sees all."""
        with Session(self._engine) as session:
            query = select(Dataset).where(Dataset.state == "registered").order_by(Dataset.owner, Dataset.name)
            return [
                {
                    "name": d.full_name,
                    "id": d.id,
                    "owner": d.owner,
                    "rows": d.manifest["rows"],
                    "schema": d.manifest["schema"],
                    "rules": d.rules or {},
                    "created": d.created.isoformat(),
                    "expires": d.expires.isoformat() if d.expires else None,
                }
                for d in session.scalars(query)
                if self._visible(caller, d)
            ]

    def _visible(self, caller: Caller, dataset: Dataset) -> bool:
        if caller.party == self._settings.number or dataset.owner == caller.name:
            return True
        return self._settings.allow(caller.name, "train", [dataset.full_name]) is not None

    def resolve(self, caller: Caller, names: Sequence[str]) -> list[Dataset]:
        """Registered datasets by ``owner/name``, or by a bare name where exactly one that the caller may see has it."""
        found = []
        with Session(self._engine) as session:
            for name in names:
                owner, slash, bare = name.rpartition("/")
                query = select(Dataset).where(Dataset.name == bare, Dataset.state == "registered")
                query = query.where(Dataset.owner == owner) if slash else query
                visible = [dataset for dataset in session.scalars(query) if self._visible(caller, dataset)]
                if not visible:
                    raise NotFound(f"there is no dataset '{name[:127]}' that you may train on")
                if len(visible) > 1:
                    choices = ", ".join(sorted(dataset.full_name for dataset in visible))
                    raise Conflict(f"several owners have a dataset '{bare}': say which of {choices}")
                found += visible
            session.expunge_all()
        return found

    def by_identifiers(self, identifiers: Sequence[str]) -> list[Dataset]:
        """Datasets in the given order, whatever their state."""
        with Session(self._engine) as session:
            found = [session.get(Dataset, identifier) for identifier in identifiers]
            session.expunge_all()
        if any(dataset is None for dataset in found):
            raise NotFound("a dataset is not known at this party")
        return [dataset for dataset in found if dataset is not None]

    def temporary(self, caller: Caller, identifier: str, state: str = "complete") -> Dataset:
        """The caller's temporary upload: complete, or claimed by a job."""
        with Session(self._engine) as session:
            dataset = own_upload(session, caller, identifier, state)
            if not dataset.temporary:
                raise Conflict("this upload is not meant for prediction")
            session.expunge(dataset)
            return dataset

    def claim(self, caller: Caller, identifier: str) -> None:
        """An upload serves one job."""
        with self._registering, Session(self._engine) as session, session.begin():
            own_upload(session, caller, identifier, "complete").state = "claimed"

    def drop(self, identifier: str) -> None:
        """Remove a temporary upload after its job."""
        self._forget(identifier, "dropped")


def bare_name(caller: Caller, name: str) -> str:
    """The name without its owner, who must be the caller."""
    owner, slash, bare = name.rpartition("/")
    if slash and owner != caller.name:
        raise NotFound("there is no such dataset of yours")
    return bare


def check_dataset_name(name: str) -> str:
    """``name`` or ``owner/name``."""
    for part in name.split("/", 1):
        check_name(part, "dataset")
    return name
