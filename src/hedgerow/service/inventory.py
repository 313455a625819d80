"""What exists at all three parties. After a party was restored from an older copy, the rest is set aside and reported.

A dataset or model counts only where all three hold their part. What one of them lost cannot be used any more: it is
*orphaned* here, which hides it, until the operator looks at it and removes it.
"""

import logging
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ..errors import HedgerowError
from .audit import AuditLog
from .database import Dataset, Job
from .peers import PartyConnections
from .settings import PartySettings
from .vault import Vault

log = logging.getLogger("hedgerow.party")


class Inventory:
    """Datasets and models of one party, compared with the others'."""

    def __init__(
        self, settings: PartySettings, engine: Engine, vault: Vault, audit: AuditLog, peers: PartyConnections
    ) -> None:
        self._settings, self._engine, self._vault, self._audit, self._peers = settings, engine, vault, audit, peers
        self.wanted = self._restored.exists()
        """Whether this party was restored, or another one was, and they have not been compared since."""

    @property
    def _restored(self) -> Any:
        return self._settings.data / "restored"

    def ask_soon(self) -> None:
        """Compare with the others at the next turn."""
        self.wanted = True

    def existing(self) -> dict[str, list[str]]:
        """Identifiers of all datasets and models that this party holds its part of, set aside or not, or is about to
        have."""
        with Session(self._engine) as session:
            held = Dataset.state.in_(("complete", "registered", "orphaned"))
            datasets = session.scalars(select(Dataset.id).where(held, Dataset.temporary.is_(False)))
            made = Job.state.in_(("running", "written", "done", "orphaned"))
            models = session.scalars(select(Job.id).where(Job.kind == "train", made))
            return {"datasets": list(datasets), "models": list(models)}

    def _usable(self) -> dict[str, list[str]]:
        with Session(self._engine) as session:
            datasets = session.scalars(select(Dataset.id).where(Dataset.state == "registered"))
            models = session.scalars(select(Job.id).where(Job.kind == "train", Job.state == "done"))
            return {"datasets": list(datasets), "models": list(models)}

    def reconcile_if_wanted(self) -> None:
        """Set aside what another party does not have; a party that was restored lets the others do the same.

        What was set aside and is held by all three after all, because a party was wrong for a while, comes back.
        """
        if not self.wanted:
            return
        mine = self._usable()
        try:
            theirs = [self._peers.call(party, "GET", "/v1/peer/inventory") for party in self._settings.others]
            if self._restored.exists():
                for party in self._settings.others:
                    self._peers.call(party, "POST", "/v1/peer/reconcile")
        except HedgerowError as error:
            log.warning("the parties cannot be compared yet", extra={"reason": str(error)})
            return
        self._missing_files()
        there = {kind: [set(view[kind]) for view in theirs] for kind in mine}
        self._set_aside(
            [(kind, one) for kind in mine for one in mine[kind] if not all(one in held for held in there[kind])]
        )
        self._bring_back(there)
        self.wanted = False

    def _bring_back(self, there: dict[str, list[set[str]]]) -> None:
        with Session(self._engine) as session, session.begin():
            names = set(
                session.execute(select(Dataset.owner, Dataset.name).where(Dataset.state == "registered")).tuples()
            )
            for dataset in session.scalars(select(Dataset).where(Dataset.state == "orphaned")):
                taken = (dataset.owner, dataset.name) in names
                if not taken and all(dataset.id in held for held in there["datasets"]):
                    dataset.state = "registered"
            for job in session.scalars(select(Job).where(Job.state == "orphaned")):
                if all(job.id in held for held in there["models"]):
                    job.state = "done"

    def _missing_files(self) -> None:
        """A copy may name files that it does not have."""
        mine = self._usable()
        lost = [("datasets", one) for one in mine["datasets"] if not self._vault.dataset(one).exists()]
        lost += [("models", one) for one in mine["models"] if not self._vault.model(one).exists()]
        self._set_aside(lost)

    def _set_aside(self, orphans: list[tuple[str, str]]) -> None:
        with Session(self._engine) as session, session.begin():
            for kind, identifier in orphans:
                found = _record(session, kind, identifier)
                if found is not None:
                    found.state = "orphaned"
        for kind, identifier in orphans:
            self._audit.append(f"party-{self._settings.number}", "orphaned", kind=kind, identifier=identifier)
        if orphans:
            log.warning("some things do not exist at all parties", extra={"number": len(orphans)})

    def leftovers(self) -> list[dict[str, Any]]:
        """What was set aside and still lies here; the next turn looks whether it can come back."""
        self.ask_soon()
        with Session(self._engine) as session:
            datasets = list(session.scalars(select(Dataset).where(Dataset.state == "orphaned")))
            jobs = list(session.scalars(select(Job).where(Job.state == "orphaned")))
            found = [{"kind": "dataset", "id": one.id, "name": one.full_name} for one in datasets]
            return found + [{"kind": "model", "id": one.id, "name": one.asker} for one in jobs]

    def remove_leftovers(self) -> list[dict[str, Any]]:
        """Remove it; the records stay."""
        found = self.leftovers()
        self.wanted = False
        for entry in found:
            (self._vault.discard if entry["kind"] == "dataset" else self._vault.discard_job)(entry["id"])
        with Session(self._engine) as session, session.begin():
            for entry in found:
                one = _record(session, entry["kind"], entry["id"])
                if one is not None:
                    one.state = "dropped" if isinstance(one, Dataset) else "deleted"
        for entry in found:
            self._audit.append(f"party-{self._settings.number}", "removed", kind=entry["kind"], identifier=entry["id"])
        return found


def _record(session: Session, kind: str, identifier: str) -> Dataset | Job | None:
    return session.get(Dataset, identifier) if kind.startswith("dataset") else session.get(Job, identifier)
