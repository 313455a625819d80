"""The jobs of one party, put together: the desk for members, turns that move jobs on, answers to other parties."""

import logging
import shutil
import threading
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ...errors import HedgerowError, PeerUnreachable
from ..admission import Admission
from ..audit import AuditLog
from ..clock import now
from ..database import Job
from ..datasets import LEADER, Datasets
from ..gate import Gate
from ..peers import PartyConnections
from ..refusal import Conflict, NotFound, Reason
from ..settings import PartySettings
from ..vault import Vault
from .desk import JobDesk
from .follower import Follower
from .launcher import Launcher
from .leader import Leader
from .patience import Patience
from .state import ENDINGS, GIVEN_UP, UNSTARTED, Event, State
from .store import JobStore

_TURN_SECONDS = 0.1
_CATCH_UP_SECONDS = 2.0
log = logging.getLogger("hedgerow.jobs")


class Jobs:
    """The jobs of one party. Members' wishes go to the :attr:`desk`."""

    def __init__(
        self,
        settings: PartySettings,
        engine: Engine,
        vault: Vault,
        audit: AuditLog,
        peers: PartyConnections,
        datasets: Datasets,
        gate: Gate,
    ) -> None:
        self._settings, self._peers, self._datasets = settings, peers, datasets
        self._store = JobStore(engine, vault, audit, datasets)
        admission = Admission(settings, engine, datasets)
        self._launcher = Launcher(settings, self._store, admission, gate)
        self._runner = self._launcher.runner
        self.desk = JobDesk(settings, self._store, admission, self._runner)
        self._patience = Patience(settings.patience_seconds)
        self._role: Leader | Follower = (
            Leader(settings, self._store, peers, self._launcher, self._patience)
            if settings.number == LEADER
            else Follower(self._store, peers)
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._turns, name="jobs", daemon=True)
        self._caught_up = 0.0
        datasets.on_withdrawal = self.desk.end_uses

    @property
    def running(self) -> int:
        """Job processes of this party."""
        return len(self._runner)

    def counts(self) -> dict[str, int]:
        """Jobs by state, for metrics."""
        return self._store.counts()

    def start(self) -> None:
        """Tidy up after a restart, then take turns."""
        self._recover()
        self._thread.start()

    def close(self) -> None:
        """Stop taking turns and end all processes."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(10)
        self._runner.close()

    # What other parties ask for

    def peer_view(self, identifier: str) -> dict[str, Any]:
        """State of a job, for the other parties."""
        with Session(self._store.engine) as session:
            job = session.get(Job, identifier)
            if job is None:
                raise NotFound("no such job")
            room = not self._runner.full and not self._runner.has(identifier)
            return {"state": job.state, "spec_hash": job.spec_hash, "error": job.error, "room": room}

    def peer_states(self, identifiers: Sequence[str]) -> dict[str, Any]:
        """States of the jobs that this party knows."""
        return self._store.states(identifiers)

    def peer_start(self, identifier: str, spec_hash: str, attempt: int, key: bytes) -> None:
        """Party 0 starts a job that this party has accepted."""
        with Session(self._store.engine) as session:
            job = session.get(Job, identifier)
            if job is None:
                raise Conflict("the job was not submitted here", Reason.UNKNOWN)
            state, own_hash, own_attempt = job.state, job.spec_hash, job.attempt
        if state == State.WAITING:
            raise Conflict("the job waits for approval here", Reason.NOT_YET)
        if own_hash != spec_hash:
            self._store.end(identifier, Event.FAIL, "party 0 has another specification of this job")
            raise Conflict("this party was given another specification of the job", Reason.MISMATCH)
        if state == State.RUNNING:
            if own_attempt == attempt:
                return
            raise Conflict("an earlier attempt has not ended here", Reason.NOT_YET)
        if state != State.QUEUED:
            raise Conflict(f"the job is {state} here", Reason.ENDED)
        self._launcher.launch(identifier, attempt, key)

    def peer_stop(self, identifier: str) -> None:
        """Party 0 could not start a job everywhere: back into the queue."""
        if self._store.change(identifier, Event.PUT_BACK):
            self._runner.stop(identifier)

    # Turns

    def _turns(self) -> None:
        while not self._stop.wait(_TURN_SECONDS):
            try:
                self._turn()
            except Exception as error:
                log.error("a turn failed", extra={"reason": type(error).__name__})

    def _turn(self) -> None:
        self._launcher.conclude_processes()
        moving = self._store.in_state(State.QUEUED, State.WRITTEN)
        self._patience.keep_only({job.id for job in moving})
        for job in sorted(moving, key=lambda job: job.state != State.WRITTEN):
            try:
                if job.state == State.WRITTEN:
                    self._role.conclude(job.id)
                else:
                    self._role.try_start(job)
            except HedgerowError as error:
                self._store.end(job.id, Event.FAIL, str(error))
        if time.monotonic() - self._caught_up > _CATCH_UP_SECONDS:
            self._caught_up = time.monotonic()
            try:
                self._datasets.catch_up()
                self._catch_up()
            except PeerUnreachable:
                return

    def _catch_up(self) -> None:
        """Jobs that have ended at party 0, or never came there, end here as well; at party 0, those that another party
        has ended."""
        jobs = self._store.in_state(*UNSTARTED)
        if not jobs:
            return
        for party in self._role.asked:
            asked = {"identifiers": [job.id for job in jobs]}
            views = self._peers.call(party, "POST", "/v1/peer/jobs/states", json=asked)
            for job in jobs:
                known = views.get(job.id)
                if known is None:
                    age = (now().replace(tzinfo=None) - job.created.replace(tzinfo=None)).total_seconds()
                    if age > self._settings.patience_seconds:
                        reason = f"party {party} was not given this job"
                        self._store.end(job.id, Event.FAIL, reason, only=UNSTARTED)
                elif known["state"] in GIVEN_UP:
                    event = ENDINGS[State(known["state"])]
                    self._store.end(job.id, event, f"party {party}: {known['error']}", only=UNSTARTED)

    def _recover(self) -> None:
        """After a restart: what was running has failed, and files without a job are removed."""
        for job in self._store.in_state(State.RUNNING):
            reason = f"party {self._settings.number} was restarted while the job ran"
            self._store.end(job.id, Event.FAIL, reason)
        kept = {job.id for job in self._store.in_state(State.WRITTEN, State.DONE)}
        vault = self._store.vault
        shutil.rmtree(vault.root / "work", ignore_errors=True)
        (vault.root / "work").mkdir(mode=0o700)
        for path in [*(vault.root / "models").iterdir(), *(vault.root / "results").iterdir()]:
            if path.name.removesuffix(".npz") not in kept:
                vault.discard_job(path.name.removesuffix(".npz"))
