"""Jobs at one party: submitted, agreed on, run by all three together, finished at all three or at none.

Party 0 leads. It starts a job when all parties have accepted the same specification and have room, and a job is *done*
once party 0 has seen that all three wrote their results and has noted it. The others, having written theirs, ask.
"""

from __future__ import annotations

import datetime
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ..errors import HedgerowError, PeerUnreachable
from ..models import ModelFacts
from .admission import Admission, Admitted, today
from .audit import AuditLog
from .clock import now
from .database import Charge, Job, Use
from .datasets import LEADER, Caller, Datasets, check_dataset_name
from .gate import Gate
from .peers import Answer, PartyConnections
from .refusal import Conflict, Forbidden, Refusal, Unknown
from .runner import Runner
from .settings import PartySettings
from .spec import RULES, TRAINING, digest
from .vault import Vault

OPEN = ("waiting", "queued", "running", "written")
MOST_OPEN = 200
_TURN_SECONDS = 0.1
_CATCH_UP_SECONDS = 2.0
log = logging.getLogger("hedgerow.jobs")


class NeedsApproval(HedgerowError):
    """Somebody must approve a job who did not have to when it was submitted."""

    def __init__(self, approvals: Sequence[str]) -> None:
        self.approvals = tuple(approvals)
        super().__init__("the job waits for approval")


class Jobs:
    """The jobs of one party."""

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
        self._settings, self._engine, self._vault, self._audit = settings, engine, vault, audit
        self._peers, self._datasets = peers, datasets
        self._admission = Admission(settings, engine, datasets)
        self._runner = Runner(settings, vault, gate, self._told)
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._starting, self._submitting = threading.Lock(), threading.Lock()
        self._changes = threading.RLock()
        self._since: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._turns, name="jobs", daemon=True)
        self._caught_up = 0.0
        datasets.on_withdrawal = self._end_uses

    @property
    def running(self) -> int:
        """Job processes of this party."""
        return len(self._runner)

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

    # What members and operators ask for

    def submit(self, caller: Caller, request: dict[str, Any]) -> dict[str, Any]:
        """Check a request against policy and rules and queue it; the same request again changes nothing."""
        with Session(self._engine) as session:
            known = session.get(Job, request["id"])
            if known is not None and known.asker == caller.name and _same_request(known.spec, request):
                return _view(known)
            if self._open_jobs(session, caller) >= MOST_OPEN:
                raise Conflict(f"you have {MOST_OPEN} open jobs; wait for them or cancel some")
        # One at a time: budgets are looked at and charged in one go.
        with self._submitting:
            return self._accept(caller, self._admitted(caller, request))

    def _accept(self, caller: Caller, admitted: Admitted) -> dict[str, Any]:
        """Note a job that is allowed, what it uses and what it is charged."""
        spec = admitted.spec
        facts = {"job": spec["id"], "kind": spec["kind"], "datasets": admitted.names, "spec": digest(spec)}
        # Before anything happens: what cannot be noted is not done.
        self._audit.append(caller.name, "submit", **facts)
        if "upload" in spec:
            self._datasets.claim(caller, spec["upload"])
        with self._changes, Session(self._engine) as session, session.begin():
            known = session.get(Job, spec["id"])
            if known is not None:
                if known.asker != caller.name or known.spec_hash != digest(spec):
                    raise Conflict("a job with this identifier exists already")
                return _view(known)
            job = _new_job(caller, admitted)
            session.add(job)
            for dataset in {dataset.id: dataset for dataset in admitted.datasets}.values():
                used = {"dataset": dataset.id, "owner": dataset.owner, "action": admitted.action}
                session.add(Use(job=job.id, asker=caller.name, **used))
            if admitted.charge:
                session.add(Charge(job=job.id, who=caller.name, day=today(), amount=admitted.charge))
            session.flush()
            return _view(job)

    def _admitted(self, caller: Caller, request: dict[str, Any]) -> Admitted:
        caller.need("analyst")
        for name in request["datasets"]:
            check_dataset_name(name)
        try:
            return self._admission.admit(caller, request)
        except (Forbidden, Unknown) as refusal:
            refusal.facts = {"job": request["id"], "kind": request["kind"], "datasets": request["datasets"][:5]}
            raise

    def consider(self, caller: Caller, request: dict[str, Any]) -> dict[str, Any]:
        """What would become of a request, without submitting it."""
        caller.need("analyst")
        party = {"party": self._settings.number}
        try:
            for name in request["datasets"]:
                check_dataset_name(name)
            admitted = self._admission.admit(caller, request)
        except (Refusal, HedgerowError) as refusal:
            return party | {"allowed": False, "reason": str(refusal)}
        spec = {name: value for name, value in admitted.spec.items() if name not in ("id", "asker")}
        return party | {
            "allowed": True,
            "reason": None,
            "approvals": list(admitted.approvals),
            "charge": admitted.charge,
            "spec": spec,
        }

    def _open_jobs(self, session: Session, caller: Caller) -> int:
        query = select(func.count()).select_from(Job).where(Job.asker == caller.name, Job.state.in_(OPEN))
        return session.scalar(query) or 0

    def model_view(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """The public facts of a model, for those who may use it."""
        caller.need("analyst")
        job, facts = self._admission.model(identifier)
        actions = self._admission.may_use(caller.name, job)
        if job.asker != caller.name and not actions:
            raise Unknown("there is no such model")
        tables = self._admission.used_by(job)
        return {
            "facts": facts.entry(),
            "datasets": [name for name, _ in job.spec["datasets"]],
            "withdrawn": [table.full_name for table in tables if table.state == "withdrawn"],
            "min_count": job.spec.get("min_count", 1),
            "allowed": actions,
        }

    def reveal(self, caller: Caller, identifier: str, counts: bool) -> ModelFacts:
        """Check that the caller may have this party's shares of a model."""
        caller.need("analyst")
        try:
            facts = self._admission.check_reveal(caller.name, identifier, counts)
        except Forbidden as refusal:
            refusal.facts = {"job": identifier, "kind": "reveal"}
            raise
        self._audit.append(caller.name, "reveal", job=identifier, counts=counts)
        return facts

    def view(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """One job of the caller's, or one that uses the caller's data."""
        with Session(self._engine) as session:
            return _view(self._seen(session, caller, identifier))

    def listing(self, caller: Caller) -> list[dict[str, Any]]:
        """The caller's jobs; the operator sees all."""
        with Session(self._engine) as session:
            query = select(Job).order_by(Job.created.desc()).limit(1000)
            if caller.party != self._settings.number:
                query = query.where(Job.asker == caller.name)
            return [_view(job) for job in session.scalars(query)]

    def uses(self, caller: Caller) -> list[dict[str, Any]]:
        """What used the caller's datasets, newest first: the job, who asked, what for, and how it ended."""
        caller.need("owner")
        with Session(self._engine) as session:
            query = select(Use, Job).join(Job, Job.id == Use.job).where(Use.owner == caller.name)
            query = query.order_by(Use.created.desc()).limit(1000)
            names = {
                use.dataset: self._datasets.by_identifiers([use.dataset])[0].full_name
                for use, _ in session.execute(query)
            }
            return [
                {"dataset": names[use.dataset], "action": use.action, **_view(job)}
                for use, job in session.execute(query)
            ]

    def _own(self, session: Session, caller: Caller, identifier: str) -> Job:
        job = session.get(Job, identifier)
        if job is None or (caller.party != self._settings.number and job.asker != caller.name):
            raise Unknown("there is no such job of yours")
        return job

    def _seen(self, session: Session, caller: Caller, identifier: str) -> Job:
        """A job that the caller may look at: the asker, this party's operator, owners of data it uses."""
        job = session.get(Job, identifier)
        used = session.scalar(select(Use).where(Use.job == identifier, Use.owner == caller.name))
        if job is not None and used is not None and "owner" in caller.roles:
            return job
        return self._own(session, caller, identifier)

    def result(self, caller: Caller, identifier: str) -> bytes:
        """This party's shares of a prediction's result, for the asker alone."""
        with Session(self._engine) as session, session.begin():
            job = self._own(session, caller, identifier)
            if job.state != "done" or job.kind == "train" or caller.party is not None:
                raise Conflict(f"the job is {job.state} and has no result to fetch")
            job.fetched = now()
        self._audit.append(caller.name, "fetch", job=identifier)
        return self._vault.read_result(identifier)

    def delete(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """Remove a model or a result of the caller's; who made it and from what stays on record."""
        with self._changes, Session(self._engine) as session, session.begin():
            job = self._own(session, caller, identifier)
            if job.state not in ("done", "deleted"):
                raise Conflict(f"the job is {job.state}: cancel it first")
            job.state = "deleted"
            view = _view(job)
        self._vault.discard_job(identifier)
        self._audit.append(caller.name, "delete", job=identifier)
        return view

    def expire(self) -> None:
        """Remove results and models whose time is over."""
        for kinds, days in (
            (("predict", "probabilities", "evaluate"), self._settings.keep_results_days),
            (("train",), self._settings.keep_models_days),
        ):
            if days <= 0:
                continue
            with self._changes, Session(self._engine) as session, session.begin():
                before = now() - datetime.timedelta(days=days)
                query = select(Job).where(Job.state == "done", Job.kind.in_(kinds), Job.ended < before)
                old = list(session.scalars(query))
                for job in old:
                    job.state = "deleted"
                identifiers = [(job.id, job.asker) for job in old]
            for identifier, asker in identifiers:
                self._vault.discard_job(identifier)
                self._audit.append(asker, "expired", job=identifier)

    def approve(self, caller: Caller, identifier: str, until: datetime.datetime | None) -> dict[str, Any]:
        """An owner whose data a job uses, or this party's operator, lets a waiting job go on."""
        with self._changes, Session(self._engine) as session, session.begin():
            job = self._waiting(session, caller, identifier)
            given = {"at": now().isoformat(), "until": until.isoformat() if until else None}
            job.approvals = {**(job.approvals or {}), caller.name: given}
            if not _waits_for(job):
                job.state = "queued"
            view = _view(job)
        self._audit.append(caller.name, "approve", job=identifier, until=given["until"])
        return view

    def refuse(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """An owner or this party's operator does not let a waiting job go on."""
        with Session(self._engine) as session:
            self._waiting(session, caller, identifier)
        self._audit.append(caller.name, "refuse", job=identifier)
        self._end(identifier, "cancelled", f"{caller.name} did not approve", only=("waiting",))
        return self.view(caller, identifier)

    def _waiting(self, session: Session, caller: Caller, identifier: str) -> Job:
        """A job that waits for the caller's approval."""
        job = session.get(Job, identifier)
        foreign = caller.party is not None and caller.party != self._settings.number
        if job is None or foreign or caller.name not in (job.approvals or {}):
            raise Unknown("no such job waits, or has waited, for your approval here")
        if job.state != "waiting":
            raise Conflict(f"the job is {job.state}")
        return job

    def cancel(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """End a job of the caller's."""
        with Session(self._engine) as session:
            state = self._own(session, caller, identifier).state
        # Once a party other than 0 has written its part, party 0 alone decides how the job ends.
        stoppable = OPEN if self._settings.number == LEADER else OPEN[:3]
        if state in stoppable:
            self._end(identifier, "cancelled", f"cancelled by {caller.name}", only=stoppable)
            self._runner.stop(identifier)
        return self.view(caller, identifier)

    def _end_uses(self, datasets: Sequence[str]) -> None:
        """Datasets are gone: jobs that are to be trained on them end. What is predicted by earlier models goes on."""
        with Session(self._engine) as session:
            query = select(Job.id).join(Use, Use.job == Job.id).where(Use.dataset.in_(datasets), Use.action == "train")
            affected = list(session.scalars(query.where(Job.state.in_(OPEN[:3]))))
        for identifier in affected:
            self._end(identifier, "failed", "a dataset it uses was withdrawn by its owner", only=OPEN[:3])
            self._runner.stop(identifier)

    def counts(self) -> dict[str, int]:
        """Jobs by state, for metrics."""
        with Session(self._engine) as session:
            found = session.execute(select(Job.state, func.count()).group_by(Job.state))
            return {state: int(count) for state, count in found}

    # What other parties ask for

    def peer_view(self, identifier: str) -> dict[str, Any]:
        """State of a job, for the other parties."""
        with Session(self._engine) as session:
            job = session.get(Job, identifier)
            if job is None:
                raise Unknown("no such job")
            room = not self._runner.full and not self._runner.has(identifier)
            return {"state": job.state, "spec_hash": job.spec_hash, "error": job.error, "room": room}

    def peer_states(self, identifiers: Sequence[str]) -> dict[str, Any]:
        """States of the jobs that this party knows."""
        with Session(self._engine) as session:
            query = select(Job.id, Job.state, Job.error).where(Job.id.in_(identifiers))
            return {job: {"state": state, "error": error} for job, state, error in session.execute(query)}

    def peer_start(self, identifier: str, spec_hash: str, attempt: int, key: bytes) -> None:
        """Party 0 starts a job that this party has accepted."""
        with Session(self._engine) as session:
            job = session.get(Job, identifier)
            if job is None:
                raise Conflict("unknown: the job was not submitted here")
            if job.state == "waiting":
                raise Conflict("not yet: the job waits for approval here")
            if job.spec_hash != spec_hash:
                self._end(identifier, "failed", "party 0 has another specification of this job")
                raise Conflict("mismatch: this party was given another specification of the job")
            if job.state == "running":
                if job.attempt == attempt:
                    return
                raise Conflict("not yet: an earlier attempt has not ended here")
            if job.state != "queued":
                raise Conflict(f"ended: the job is {job.state} here")
        self._launch(identifier, attempt, key)

    def peer_stop(self, identifier: str) -> None:
        """Party 0 could not start a job everywhere: back into the queue."""
        with self._changes, Session(self._engine) as session, session.begin():
            job = session.get(Job, identifier)
            if job is None or job.state != "running":
                return
            job.state = "queued"
        self._runner.stop(identifier)

    # Turns

    def _launch(self, identifier: str, attempt: int, key: bytes) -> None:
        try:
            self._start_process(identifier, attempt, key)
        except NeedsApproval as wanted:
            # Rules have changed since it was submitted.
            with self._changes, Session(self._engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is not None and job.state == "queued":
                    given = job.approvals or {}
                    job.approvals, job.state = {who: given.get(who) for who in wanted.approvals} | given, "waiting"
            raise Conflict("not yet: the job waits for approval here") from None

    def _start_process(self, identifier: str, attempt: int, key: bytes) -> None:
        with self._starting:
            if self._runner.full or self._runner.has(identifier):
                raise Conflict("not yet: this party has no room")
            with self._changes, Session(self._engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is None or job.state != "queued":
                    raise Conflict("not yet: the job is not queued here")
                try:
                    facts, places, approvals = self._admission.check_again(job)
                except HedgerowError as error:
                    raise Conflict(f"ended: {error}") from None
                if set(approvals) - set(job.approvals or {}):
                    raise NeedsApproval(approvals)
                if job.kind == "train":
                    job.progress = {"facts": facts.entry()}
                job.state, job.attempt = "running", attempt
                spec_hash, known = job.spec_hash, {"spec": job.spec, "facts": facts.entry(), **places}
            try:
                self._runner.start(identifier, spec_hash, attempt, key, known)
            except OSError as error:
                self._end(identifier, "failed", f"the job's process could not be started ({type(error).__name__})")
                raise Conflict("ended: the job's process could not be started") from None

    def _told(self, identifier: str, message: dict[str, Any]) -> None:
        """A job's process has something to say. Progress may get lost; an outcome is kept until it is written down."""
        if "progress" not in message:
            self._outcomes[identifier] = message
            return
        try:
            with self._changes, Session(self._engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is not None and job.state == "running":
                    job.progress = {**job.progress, **message["progress"]}
        except SQLAlchemyError as error:
            log.warning("progress could not be written down", extra={"reason": type(error).__name__})

    def _conclude_processes(self) -> None:
        """Write down how processes ended; what cannot be written now is tried again in the next turn."""
        for identifier, message in list(self._outcomes.items()):
            self._note_outcome(identifier, message)
            self._outcomes.pop(identifier, None)
        with self._starting:
            with Session(self._engine) as session:
                running = list(session.scalars(select(Job.id).where(Job.state == "running")))
            lost = [job for job in running if not self._runner.has(job) and job not in self._outcomes]
        for identifier in lost:
            self._end(identifier, "failed", f"the job's process at party {self._settings.number} has gone")

    def _note_outcome(self, identifier: str, message: dict[str, Any]) -> None:
        if "error" in message:
            log.warning("a job failed", extra={"job": identifier, "reason": message["error"]})
            self._end(identifier, "failed", message["error"], only=("running",), opened=message.get("opened", False))
            return
        with self._changes, Session(self._engine) as session, session.begin():
            job = session.get(Job, identifier)
            written = job is not None and job.state == "running"
            if job is not None and written:
                job.state = "written"
                job.progress = {**job.progress, **message["done"]}
        if not written:
            self._vault.discard_job(identifier)

    def _end(
        self, identifier: str, state: str, reason: str | None, only: tuple[str, ...] = OPEN, opened: bool = False
    ) -> None:
        """A job is over; whatever it wrote is removed unless it is done. ``opened`` says that it told something all
        the same."""
        with self._changes, Session(self._engine) as session, session.begin():
            job = session.get(Job, identifier)
            if job is None or job.state not in only:
                return
            job.state, job.error, job.ended = state, reason[:500] if reason else None, now()
            asker, upload = job.asker, job.spec.get("upload")
            if state != "done" and not opened:
                # Nothing was opened, so nothing is charged.
                session.execute(delete(Charge).where(Charge.job == identifier))
        if state != "done":
            self._vault.discard_job(identifier)
        if upload:
            self._datasets.drop(upload)
        self._since.pop(identifier, None)
        self._audit.append_later(asker, state, job=identifier)
        log.info("a job ended", extra={"job": identifier, "state": state})

    def _turns(self) -> None:
        while not self._stop.wait(_TURN_SECONDS):
            try:
                self._turn()
            except Exception as error:
                log.error("a turn failed", extra={"reason": type(error).__name__})

    def _turn(self) -> None:
        self._conclude_processes()
        with Session(self._engine) as session:
            query = select(Job).where(Job.state.in_(("queued", "written"))).order_by(Job.created)
            open_jobs = list(session.scalars(query))
            session.expunge_all()
        for job in sorted(open_jobs, key=lambda job: job.state != "written"):
            try:
                if job.state == "written":
                    self._conclude(job.id)
                elif self._settings.number == LEADER and not self._runner.full:
                    self._try_start(job)
            except HedgerowError as error:
                self._end(job.id, "failed", str(error))
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
        with Session(self._engine) as session:
            query = select(Job.id, Job.created).where(Job.state.in_(("waiting", "queued")))
            open_jobs = list(session.execute(query))
        if not open_jobs:
            return
        asked = {"identifiers": [identifier for identifier, _ in open_jobs]}
        for party in self._settings.others if self._settings.number == LEADER else (LEADER,):
            views = self._peers.call(party, "POST", "/v1/peer/jobs/states", json=asked)
            for identifier, created in open_jobs:
                view = views.get(identifier)
                if view is None:
                    age = (now().replace(tzinfo=None) - created.replace(tzinfo=None)).total_seconds()
                    if age > self._settings.patience_seconds:
                        reason = f"party {party} was not given this job"
                        self._end(identifier, "failed", reason, only=("waiting", "queued"))
                elif view["state"] in ("failed", "cancelled"):
                    reason = f"party {party}: {view['error']}"
                    self._end(identifier, view["state"], reason, only=("waiting", "queued"))

    def _try_start(self, job: Job) -> None:
        """Start a job at all parties, or at none for now."""
        identifier, spec_hash, attempt = job.id, job.spec_hash, job.attempt + 1
        key = secrets.token_bytes(32)
        started: list[int] = []
        try:
            for party in self._settings.others:
                self._ask_ready(party, identifier, spec_hash)
            if "upload" in job.spec:
                self._datasets.check_together(job.asker, job.spec["upload"])
            # Before anybody is told to start: the others dial this party as soon as they are.
            self._runner.announce(identifier, spec_hash, attempt, key)
            for party in self._settings.others:
                content = {"spec_hash": spec_hash, "attempt": attempt, "key": key.hex()}
                started.append(party)
                self._peers.call(party, "POST", f"/v1/peer/jobs/{identifier}/start", json=content)
            self._launch(identifier, attempt, key)
            self._since.pop(identifier, None)
        except (Answer, PeerUnreachable, Conflict) as error:
            self._runner.renounce(identifier, spec_hash, attempt)
            for party in started:
                try:
                    self._peers.call(party, "POST", f"/v1/peer/jobs/{identifier}/stop")
                except HedgerowError:
                    log.warning("a party could not be told to stop", extra={"peer": party, "job": identifier})
            self._not_started(identifier, error)
        with Session(self._engine) as session, session.begin():
            known = session.get(Job, identifier)
            if known is not None:
                known.attempt = max(known.attempt, attempt)

    def _ask_ready(self, party: int, identifier: str, spec_hash: str) -> None:
        """Whether a party has accepted the same job and has room, before anything is started anywhere."""
        try:
            view = self._peers.call(party, "GET", f"/v1/peer/jobs/{identifier}")
        except Answer as error:
            raise Conflict(f"unknown: party {party} was not given this job ({error.status})") from None
        if view["state"] in ("failed", "cancelled"):
            raise Conflict(f"ended: party {party}: {view['error']}")
        if view["state"] in ("written", "done", "deleted"):
            raise Conflict(f"ended: party {party} has run this job already; was this party restored?")
        if view["state"] != "queued" or not view["room"]:
            raise Conflict(f"not yet: the job is {view['state']} at party {party}")

    def _not_started(self, identifier: str, error: HedgerowError) -> None:
        detail = error.detail if isinstance(error, Answer) else str(error)
        if detail.startswith(("mismatch", "ended")):
            self._end(identifier, "failed", str(error))
            return
        if not isinstance(error, PeerUnreachable) and not detail.startswith("unknown"):
            self._since.pop(identifier, None)
            return
        since = self._since.setdefault(identifier, time.monotonic())
        if time.monotonic() - since > self._settings.patience_seconds:
            self._end(identifier, "failed", str(error))

    def _conclude(self, identifier: str) -> None:
        """This party has written its result: is the job done everywhere?"""
        since = self._since.setdefault(identifier, time.monotonic())
        late = time.monotonic() - since > self._settings.patience_seconds
        try:
            if self._settings.number != LEADER:
                view = self._peers.call(LEADER, "GET", f"/v1/peer/jobs/{identifier}")
                if view["state"] == "done":
                    self._end(identifier, "done", None)
                elif view["state"] in ("failed", "cancelled"):
                    self._end(identifier, view["state"], f"party {LEADER}: {view['error']}")
                return
            views = [self._peers.call(p, "GET", f"/v1/peer/jobs/{identifier}") for p in self._settings.others]
        except (Answer, PeerUnreachable) as error:
            # A part that is written stays until party 0 has said how the job ended, or knows nothing of it.
            unknown = isinstance(error, Answer) and error.status == 404
            if unknown or (late and self._settings.number == LEADER):
                self._end(identifier, "failed", str(error))
            return
        for party, view in zip(self._settings.others, views, strict=True):
            if view["state"] in ("failed", "cancelled", "queued", "waiting"):
                self._end(identifier, "failed", f"party {party}: {view['error'] or view['state']}")
                return
        if all(view["state"] in ("written", "done") for view in views):
            self._end(identifier, "done", None)

    def _recover(self) -> None:
        """After a restart: what was running has failed, and files without a job are removed."""
        with Session(self._engine) as session:
            running = list(session.scalars(select(Job.id).where(Job.state == "running")))
        for identifier in running:
            reason = f"party {self._settings.number} was restarted while the job ran"
            self._end(identifier, "failed", reason)
        with Session(self._engine) as session:
            kept = set(session.scalars(select(Job.id).where(Job.state.in_(("written", "done")))))
        shutil.rmtree(self._vault.root / "work", ignore_errors=True)
        (self._vault.root / "work").mkdir(mode=0o700)
        for path in [*(self._vault.root / "models").iterdir(), *(self._vault.root / "results").iterdir()]:
            if path.name.removesuffix(".npz") not in kept:
                self._vault.discard_job(path.name.removesuffix(".npz"))


def _new_job(caller: Caller, admitted: Admitted) -> Job:
    spec = admitted.spec
    return Job(
        id=spec["id"],
        kind=spec["kind"],
        asker=caller.name,
        state="waiting" if admitted.approvals else "queued",
        spec=spec,
        spec_hash=digest(spec),
        approvals=dict.fromkeys(admitted.approvals),
    )


def _waits_for(job: Job) -> list[str]:
    """Who has not approved yet."""
    return [who for who, given in (job.approvals or {}).items() if not given]


def _same_request(spec: dict[str, Any], request: dict[str, Any]) -> bool:
    """Whether a request is the one a known job came from; what it leaves to the rules was filled in."""
    if spec["kind"] != request["kind"]:
        return False
    if spec["kind"] == "train":
        names = [name for name, _ in spec["datasets"]]
        same_names = len(names) == len(request["datasets"]) and all(
            asked in (name, name.rpartition("/")[2]) for name, asked in zip(names, request["datasets"], strict=True)
        )
        return same_names and all(request[field] in (None, (RULES | spec)[field]) for field in TRAINING)
    return bool(spec["model"] == request["model"] and spec["upload"] == request["upload"])


def _view(job: Job) -> dict[str, Any]:
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
        "waits_for": _waits_for(job) if job.state == "waiting" else [],
        "created": job.created.isoformat(),
    }
