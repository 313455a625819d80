"""A party's jobs in its database: the one place where states change, and what comes with a job's end."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.orm import Session

from ..audit import AuditLog
from ..clock import now
from ..database import Charge, Job
from ..datasets import Datasets
from ..vault import Vault
from .state import OPEN, Event, State, after

log = logging.getLogger("hedgerow.jobs")


class JobStore:
    """All jobs of one party."""

    def __init__(self, engine: Engine, vault: Vault, audit: AuditLog, datasets: Datasets) -> None:
        self.engine, self.vault, self.audit, self.datasets = engine, vault, audit, datasets
        self.changes = threading.RLock()

    def change(self, identifier: str, event: Event, alongside: Callable[[Job], None] | None = None) -> bool:
        """Take a job to where an event leads, and change other things ``alongside``; False where it does not fit."""
        with self.changes, Session(self.engine) as session, session.begin():
            job = session.get(Job, identifier)
            following = None if job is None else after(job.state, event)
            if job is None or following is None:
                return False
            job.state = following.value
            if alongside is not None:
                alongside(job)
            return True

    def end(
        self, identifier: str, event: Event, reason: str | None, only: Sequence[State] = OPEN, opened: bool = False
    ) -> None:
        """A job is over; whatever it wrote is removed unless it is done. ``opened`` says that it told something all
        the same."""
        with self.changes, Session(self.engine) as session, session.begin():
            job = session.get(Job, identifier)
            state = None if job is None or job.state not in only else after(job.state, event)
            if job is None or state is None:
                return
            job.state, job.error, job.ended = state.value, reason[:500] if reason else None, now()
            asker, upload = job.asker, job.spec.get("upload")
            if state != State.DONE and not opened:
                # Nothing was opened, so nothing is charged.
                session.execute(delete(Charge).where(Charge.job == identifier))
        if state != State.DONE:
            self.vault.discard_job(identifier)
        if upload:
            self.datasets.drop(upload)
        self.audit.append_later(asker, state, job=identifier)
        log.info("a job ended", extra={"job": identifier, "state": state})

    def in_state(self, *states: State) -> list[Job]:
        """Jobs in these states, oldest first, apart from the database."""
        with Session(self.engine) as session:
            found = list(session.scalars(select(Job).where(Job.state.in_(states)).order_by(Job.created)))
            session.expunge_all()
        return found

    def states(self, identifiers: Sequence[str]) -> dict[str, Any]:
        """State and error of the jobs that this party knows."""
        with Session(self.engine) as session:
            query = select(Job.id, Job.state, Job.error).where(Job.id.in_(identifiers))
            return {job: {"state": state, "error": error} for job, state, error in session.execute(query)}

    def counts(self) -> dict[str, int]:
        """Jobs by state, for metrics."""
        with Session(self.engine) as session:
            found = session.execute(select(Job.state, func.count()).group_by(Job.state))
            return {state: int(count) for state, count in found}


def waits_for(job: Job) -> list[str]:
    """Who has not approved yet."""
    return [who for who, given in (job.approvals or {}).items() if not given]


def view(job: Job) -> dict[str, Any]:
    """A job as members and operators see it."""
    progress = {name: value for name, value in (job.progress or {}).items() if name != "facts"}
    return {
        "id": job.id,
        "kind": job.kind,
        "asker": job.asker,
        "state": job.state,
        "spec": job.spec,
        "spec_hash": job.spec_hash,
        "progress": progress,
        "error": job.error,
        "waits_for": waits_for(job) if job.state == State.WAITING else [],
        "created": job.created.isoformat(),
    }
