"""Party 0's part: it starts jobs at all parties or at none, and says when they are done."""

import logging
import secrets

from sqlalchemy.orm import Session

from ...errors import HedgerowError, PeerUnreachable
from ..database import Job
from ..peers import PartyConnections, PartyRefused
from ..refusal import Conflict, Reason
from ..settings import PartySettings
from .launcher import Launcher
from .patience import Patience
from .state import GIVEN_UP, UNSTARTED, Event, State
from .store import JobStore

log = logging.getLogger("hedgerow.jobs")


class Leader:
    """Jobs at party 0."""

    def __init__(
        self, settings: PartySettings, store: JobStore, peers: PartyConnections, launcher: Launcher, patience: Patience
    ) -> None:
        self._settings, self._store, self._peers = settings, store, peers
        self._launcher, self._patience = launcher, patience

    @property
    def asked(self) -> tuple[int, ...]:
        """The parties whose word on jobs that have not started is asked for."""
        return tuple(self._settings.others)

    def try_start(self, job: Job) -> None:
        """Start a job at all parties, or at none for now."""
        if self._launcher.runner.full:
            return
        identifier, spec_hash, attempt = job.id, job.spec_hash, job.attempt + 1
        key = secrets.token_bytes(32)
        started: list[int] = []
        try:
            for party in self._settings.others:
                self._ask_ready(party, identifier)
            if "upload" in job.spec:
                self._store.datasets.check_together(job.asker, job.spec["upload"])
            # Before anybody is told to start: the others dial this party as soon as they are.
            self._launcher.runner.announce(identifier, spec_hash, attempt, key)
            for party in self._settings.others:
                content = {"spec_hash": spec_hash, "attempt": attempt, "key": key.hex()}
                started.append(party)
                self._peers.call(party, "POST", f"/v1/peer/jobs/{identifier}/start", json=content)
            self._launcher.launch(identifier, attempt, key)
            self._patience.forget(identifier)
        except (PartyRefused, PeerUnreachable, Conflict) as error:
            self._launcher.runner.renounce(identifier, spec_hash, attempt)
            self._stop(identifier, started)
            self._not_started(identifier, error)
        with Session(self._store.engine) as session, session.begin():
            known = session.get(Job, identifier)
            if known is not None:
                known.attempt = max(known.attempt, attempt)

    def _stop(self, identifier: str, started: list[int]) -> None:
        for party in started:
            try:
                self._peers.call(party, "POST", f"/v1/peer/jobs/{identifier}/stop")
            except HedgerowError:
                log.warning("a party could not be told to stop", extra={"peer": party, "job": identifier})

    def _ask_ready(self, party: int, identifier: str) -> None:
        """Whether a party has accepted the same job and has room, before anything is started anywhere."""
        try:
            view = self._peers.call(party, "GET", f"/v1/peer/jobs/{identifier}")
        except PartyRefused as error:
            raise Conflict(f"party {party} was not given this job ({error.status})", Reason.UNKNOWN) from None
        if view["state"] in GIVEN_UP:
            raise Conflict(f"party {party}: {view['error']}", Reason.ENDED)
        if view["state"] in (State.WRITTEN, State.DONE, State.DELETED):
            raise Conflict(f"party {party} has run this job already; was this party restored?", Reason.ENDED)
        if view["state"] != State.QUEUED or not view["room"]:
            raise Conflict(f"the job is {view['state']} at party {party}", Reason.NOT_YET)

    def _not_started(self, identifier: str, error: PartyRefused | PeerUnreachable | Conflict) -> None:
        """A job that can never start has failed; one that is unknown or out of reach somewhere fails in the end."""
        reason = Reason.UNKNOWN if isinstance(error, PeerUnreachable) else error.code
        if reason in (Reason.MISMATCH, Reason.ENDED):
            self._store.end(identifier, Event.FAIL, str(error))
        elif reason != Reason.UNKNOWN:
            self._patience.forget(identifier)
        elif self._patience.exhausted(identifier):
            self._store.end(identifier, Event.FAIL, str(error))

    def conclude(self, identifier: str) -> None:
        """This party has written its result: is the job done everywhere?"""
        late = self._patience.exhausted(identifier)
        try:
            views = [self._peers.call(p, "GET", f"/v1/peer/jobs/{identifier}") for p in self._settings.others]
        except (PartyRefused, PeerUnreachable) as error:
            if late or (isinstance(error, PartyRefused) and error.status == 404):
                self._store.end(identifier, Event.FAIL, str(error))
            return
        for party, view in zip(self._settings.others, views, strict=True):
            if view["state"] in (*GIVEN_UP, *UNSTARTED):
                reason = f"party {party}: {view['error'] or view['state']}"
                self._store.end(identifier, Event.FAIL, reason)
                return
        if all(view["state"] in (State.WRITTEN, State.DONE) for view in views):
            self._store.end(identifier, Event.CONFIRM, None)
