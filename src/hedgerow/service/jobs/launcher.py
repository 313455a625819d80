"""From a queued job to its process, and from the process's last word to the job's state."""

import logging
import threading
from collections.abc import Sequence
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ...errors import HedgerowError
from ..admission import Admission
from ..database import Job
from ..gate import Gate
from ..refusal import Conflict, Reason
from ..runner import Runner
from ..settings import PartySettings
from .state import Event, State
from .store import JobStore

log = logging.getLogger("hedgerow.jobs")


class NeedsApproval(HedgerowError):
    """Somebody must approve a job who did not have to when it was submitted."""

    def __init__(self, approvals: Sequence[str]) -> None:
        self.approvals = tuple(approvals)
        super().__init__("the job waits for approval")


class Launcher:
    """Starts the processes of one party's jobs and writes down how they end."""

    def __init__(self, settings: PartySettings, store: JobStore, admission: Admission, gate: Gate) -> None:
        self._settings, self._store, self._admission = settings, store, admission
        self.runner = Runner(settings, store.vault, gate, self._told)
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._starting = threading.Lock()

    def launch(self, identifier: str, attempt: int, key: bytes) -> None:
        """Start a queued job here; raises :class:`Conflict` where it cannot be."""
        try:
            self._start_process(identifier, attempt, key)
        except NeedsApproval as needed:
            # Rules have changed since it was submitted.
            wanted = needed.approvals

            def ask(job: Job) -> None:
                given = job.approvals or {}
                job.approvals = {who: given.get(who) for who in wanted} | given

            self._store.change(identifier, Event.ASK_APPROVAL, ask)
            raise Conflict("the job waits for approval here", Reason.NOT_YET) from None

    def _start_process(self, identifier: str, attempt: int, key: bytes) -> None:
        with self._starting:
            if self.runner.full or self.runner.has(identifier):
                raise Conflict("this party has no room", Reason.NOT_YET)
            with self._store.changes:
                spec_hash, known = self._checked(identifier)

                def begin(job: Job) -> None:
                    if job.kind == "train":
                        job.progress = {"facts": known["facts"]}
                    job.attempt = attempt

                self._store.change(identifier, Event.START, begin)
            try:
                self.runner.start(identifier, spec_hash, attempt, key, known)
            except OSError as error:
                reason = f"the job's process could not be started ({type(error).__name__})"
                self._store.end(identifier, Event.FAIL, reason)
                raise Conflict("the job's process could not be started", Reason.ENDED) from None

    def _checked(self, identifier: str) -> tuple[str, dict[str, Any]]:
        """A queued job's specification and what its process must know, if rules and approvals still allow it."""
        with Session(self._store.engine) as session:
            job = session.get(Job, identifier)
            if job is None or job.state != State.QUEUED:
                raise Conflict("the job is not queued here", Reason.NOT_YET)
            try:
                facts, places, approvals = self._admission.check_again(job)
            except HedgerowError as error:
                raise Conflict(str(error), Reason.ENDED) from None
            if set(approvals) - set(job.approvals or {}):
                raise NeedsApproval(approvals)
            return job.spec_hash, {"spec": job.spec, "facts": facts.entry(), **places}

    def _told(self, identifier: str, message: dict[str, Any]) -> None:
        """A job's process has something to say. Progress may get lost; an outcome is kept until it is written down."""
        if "progress" not in message:
            self._outcomes[identifier] = message
            return
        try:
            with self._store.changes, Session(self._store.engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is not None and job.state == State.RUNNING:
                    job.progress = {**job.progress, **message["progress"]}
        except SQLAlchemyError as error:
            log.warning("progress could not be written down", extra={"reason": type(error).__name__})

    def conclude_processes(self) -> None:
        """Write down how processes ended; what cannot be written now is tried again in the next turn."""
        for identifier, message in list(self._outcomes.items()):
            self._note_outcome(identifier, message)
            self._outcomes.pop(identifier, None)
        with self._starting:
            running = [job.id for job in self._store.in_state(State.RUNNING)]
            lost = [job for job in running if not self.runner.has(job) and job not in self._outcomes]
        for identifier in lost:
            reason = f"the job's process at party {self._settings.number} has gone"
            self._store.end(identifier, Event.FAIL, reason)

    def _note_outcome(self, identifier: str, message: dict[str, Any]) -> None:
        if "error" in message:
            log.warning("a job failed", extra={"job": identifier, "reason": message["error"]})
            opened = message.get("opened", False)
            self._store.end(identifier, Event.FAIL, message["error"], only=(State.RUNNING,), opened=opened)
            return

        def written(job: Job) -> None:
            job.progress = {**job.progress, **message["done"]}

        if not self._store.change(identifier, Event.WRITE, written):
            self._store.vault.discard_job(identifier)
