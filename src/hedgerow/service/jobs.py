"""Jobs at one party: submitted, agreed on, run by all three together, finished at all three or at none.

Party 0 leads. It starts a job when all parties have accepted the same specification and have room, and a job is *done*
once party 0 has seen that all three wrote their results and has noted it. The others, having written theirs, ask.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from ..errors import HedgerowError, InputError, PeerUnreachable
from ..models import ModelFacts
from ..tables import Schema
from .audit import AuditLog
from .clock import now
from .consortium import check_name
from .database import Job
from .datasets import LEADER, Caller, Datasets
from .gate import Gate
from .peers import Answer, PartyConnections
from .refusal import Conflict, Forbidden, Unknown
from .runner import Runner
from .settings import PartySettings
from .spec import RULES, TRAINING, combined_schema, digest, training_facts
from .vault import Vault

OPEN = ("waiting", "queued", "running", "written")
MOST_OPEN = 200
PREDICTIONS = {"predict": "predict", "probabilities": "predict", "evaluate": "evaluate"}
_TURN_SECONDS = 0.1
_CATCH_UP_SECONDS = 2.0
log = logging.getLogger("hedgerow.jobs")


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
        self._runner = Runner(settings, vault, gate, self._told)
        self._starting = threading.Lock()
        self._changes = threading.RLock()
        self._since: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._turns, name="jobs", daemon=True)
        self._caught_up = 0.0

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
        """Check a request against this party's policy and queue it; the same request again changes nothing."""
        caller.need("analyst")
        for name in request["datasets"]:
            check_name(name, "dataset")
        action = PREDICTIONS.get(request["kind"], "train")
        with Session(self._engine) as session:
            known = session.get(Job, request["id"])
            if known is not None and known.asker == caller.name and _same_request(known.spec, request):
                return _view(known)
            if self._open_jobs(session, caller) >= MOST_OPEN:
                raise Conflict(f"you have {MOST_OPEN} open jobs; wait for them or cancel some")
        if request["kind"] == "train" and self._settings.allow(caller.name, action, request["datasets"]) is None:
            self._refuse(caller, request["id"], action, request["datasets"])
        spec, names, rows, height = self._specify(caller, request)
        rule = self._settings.allow(caller.name, action, names, rows, height)
        if rule is None:
            self._refuse(caller, spec["id"], action, names)
        state = "waiting" if rule.approval else "queued"
        if "upload" in spec:
            self._datasets.claim(caller, spec["upload"])
        with self._changes, Session(self._engine) as session, session.begin():
            known = session.get(Job, spec["id"])
            if known is not None:
                if known.asker != caller.name or known.spec_hash != digest(spec):
                    raise Conflict("a job with this identifier exists already")
                return _view(known)
            job = Job(
                id=spec["id"], kind=spec["kind"], asker=caller.name, state=state, spec=spec, spec_hash=digest(spec)
            )
            session.add(job)
            session.flush()
            view = _view(job)
        self._audit.append(caller.name, "submit", job=spec["id"], kind=spec["kind"], datasets=names, spec=digest(spec))
        return view

    def _refuse(self, caller: Caller, job: str, action: str, names: Sequence[str]) -> NoReturn:
        self._audit.append(caller.name, "refused", job=job, kind=action, datasets=list(names)[:100])
        raise Forbidden(f"party {self._settings.number}'s policy does not allow {caller.name} to {action} on this")

    def _open_jobs(self, session: Session, caller: Caller) -> int:
        query = select(func.count()).select_from(Job).where(Job.asker == caller.name, Job.state.in_(OPEN))
        return session.scalar(query) or 0

    def _specify(self, caller: Caller, request: dict[str, Any]) -> tuple[dict[str, Any], list[str], int, int]:
        """The specification every party derives for itself, and what the policy looks at."""
        common = {"id": request["id"], "kind": request["kind"], "asker": caller.name}
        if request["kind"] == "train":
            if not request["datasets"]:
                raise InputError("a training job needs at least one dataset")
            tables = [self._datasets.registered(check_name(name, "dataset")) for name in request["datasets"]]
            if len({table.id for table in tables}) != len(tables):
                raise InputError("a dataset is named twice")
            spec = common | {
                "datasets": [[table.name, table.id] for table in tables],
                **{name: request[name] for name in TRAINING},
            }
            shape = self._training(spec)[0].shape
            return spec, [table.name for table in tables], shape.rows, shape.height
        model, facts = self._model(request["model"])
        upload = self._datasets.temporary(caller, request["upload"])
        columns = facts.shape.attributes + (request["kind"] == "evaluate")
        if upload.manifest["columns"] != columns:
            raise InputError(f"the rows have {upload.manifest['columns']} columns; the model needs {columns}")
        spec = common | {"model": model.id, "upload": upload.id, "manifest": upload.manifest_hash}
        return spec, [name for name, _ in model.spec["datasets"]], upload.manifest["rows"], facts.shape.height

    def _training(self, spec: dict[str, Any]) -> tuple[ModelFacts, dict[str, Any]]:
        """The facts of the model to come, and where its columns lie."""
        tables = [self._datasets.registered(name) for name, _ in spec["datasets"]]
        if [[table.name, table.id] for table in tables] != spec["datasets"]:
            raise Conflict("a dataset was replaced since the job was submitted")
        schemas = [Schema.of_entries(table.manifest["schema"]) for table in tables]
        schema, rows = combined_schema(schemas, [table.manifest["rows"] for table in tables], spec["combine"])
        facts = training_facts(spec, schema, rows)
        columns = [[column.name for column in schema.columns] for schema in schemas]
        known = [
            {"id": table.id, "rows": table.manifest["rows"], "columns": names}
            for table, names in zip(tables, columns, strict=True)
        ]
        return facts, {"tables": known, "weight": schema.weight.name if schema.weight else None}

    def _model(self, identifier: str) -> tuple[Job, ModelFacts]:
        with Session(self._engine) as session:
            job = session.get(Job, identifier)
            if job is None or job.kind != "train" or job.state != "done":
                raise Unknown("there is no such model")
            facts = ModelFacts.of_entry(job.progress["facts"])
            session.expunge(job)
            return job, facts

    def model_view(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """The public facts of a model, for those who may use it."""
        caller.need("analyst")
        job, facts = self._model(identifier)
        names = [name for name, _ in job.spec["datasets"]]
        actions = [a for a in ("predict", "evaluate", "reveal") if self._settings.allow(caller.name, a, names)]
        if job.asker != caller.name and not actions:
            raise Unknown("there is no such model")
        return {"facts": facts.entry(), "datasets": names, "allowed": actions}

    def reveal(self, caller: Caller, identifier: str, counts: bool) -> ModelFacts:
        """Check that the caller may have this party's shares of a model."""
        caller.need("analyst")
        job, facts = self._model(identifier)
        names = [name for name, _ in job.spec["datasets"]]
        rule = self._settings.allow(caller.name, "reveal", names, facts.shape.rows, facts.shape.height)
        if rule is None:
            self._refuse(caller, identifier, "reveal", names)
        self._audit.append(caller.name, "reveal", job=identifier, counts=counts)
        return facts

    def view(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """One job of the caller's."""
        with Session(self._engine) as session:
            return _view(self._own(session, caller, identifier))

    def listing(self, caller: Caller) -> list[dict[str, Any]]:
        """The caller's jobs; the operator sees all."""
        with Session(self._engine) as session:
            query = select(Job).order_by(Job.created.desc()).limit(1000)
            if caller.party != self._settings.number:
                query = query.where(Job.asker == caller.name)
            return [_view(job) for job in session.scalars(query)]

    def _own(self, session: Session, caller: Caller, identifier: str) -> Job:
        job = session.get(Job, identifier)
        if job is None or (caller.party != self._settings.number and job.asker != caller.name):
            raise Unknown("there is no such job of yours")
        return job

    def result(self, caller: Caller, identifier: str) -> bytes:
        """This party's shares of a prediction's result, for the asker alone."""
        with Session(self._engine) as session:
            job = self._own(session, caller, identifier)
            if job.state != "done" or job.kind == "train" or caller.party is not None:
                raise Conflict(f"the job is {job.state} and has no result to fetch")
        return self._vault.result(identifier).read_bytes()

    def approve(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """The operator of this party lets a waiting job go on."""
        if caller.party != self._settings.number:
            raise Forbidden("only this party's own operator can approve")
        with self._changes, Session(self._engine) as session, session.begin():
            job = self._own(session, caller, identifier)
            if job.state != "waiting":
                raise Conflict(f"the job is {job.state}")
            job.state = "queued"
            view = _view(job)
        self._audit.append(f"party {caller.party}", "approve", job=identifier)
        return view

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
        with self._starting:
            if self._runner.full or self._runner.has(identifier):
                raise Conflict("not yet: this party has no room")
            with self._changes, Session(self._engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is None or job.state != "queued":
                    raise Conflict("not yet: the job is not queued here")
                try:
                    facts = self._job_facts(job)
                except HedgerowError as error:
                    job.state, job.error, job.ended = "failed", str(error)[:500], now()
                    raise Conflict(f"ended: {error}") from None
                job.state, job.attempt = "running", attempt
                spec_hash = job.spec_hash
            try:
                self._runner.start(identifier, spec_hash, attempt, key, facts)
            except OSError as error:
                self._end(identifier, "failed", f"the job's process could not be started ({type(error).__name__})")
                raise Conflict("ended: the job's process could not be started") from None

    def _job_facts(self, job: Job) -> dict[str, Any]:
        """What a job's process must know; policy and membership are looked at once more."""
        if "analyst" not in self._settings.consortium.members.get(job.asker, ()):
            raise Forbidden(f"{job.asker} is no analyst of this consortium any more")
        if job.kind == "train":
            facts, places = self._training(job.spec)
            names = [name for name, _ in job.spec["datasets"]]
            self._still_allowed(job, names, facts.shape.rows, facts.shape.height)
            job.progress = {"facts": facts.entry()}
            return {"spec": job.spec, "facts": facts.entry(), **places}
        model, facts = self._model(job.spec["model"])
        upload = self._datasets.temporary(Caller(job.asker, ()), job.spec["upload"], "claimed")
        if upload.manifest_hash != job.spec["manifest"]:
            raise Conflict("the rows are not those the job was submitted with")
        names = [name for name, _ in model.spec["datasets"]]
        self._still_allowed(job, names, upload.manifest["rows"], facts.shape.height)
        return {"spec": job.spec, "facts": facts.entry(), "rows": upload.manifest["rows"]}

    def _still_allowed(self, job: Job, names: Sequence[str], rows: int, height: int) -> None:
        action = PREDICTIONS.get(job.kind, "train")
        if self._settings.allow(job.asker, action, names, rows, height) is None:
            raise Forbidden(f"party {self._settings.number}'s policy does not allow this any more")

    def _told(self, identifier: str, message: dict[str, Any]) -> None:
        """A job's process has something to say."""
        if "progress" in message:
            with self._changes, Session(self._engine) as session, session.begin():
                job = session.get(Job, identifier)
                if job is not None and job.state == "running":
                    job.progress = {**job.progress, **message["progress"]}
            return
        if "error" in message:
            log.warning("a job failed", extra={"job": identifier, "reason": message["error"]})
            self._end(identifier, "failed", message["error"], only=("running",))
            return
        with self._changes, Session(self._engine) as session, session.begin():
            job = session.get(Job, identifier)
            written = job is not None and job.state == "running"
            if job is not None and written:
                job.state = "written"
                job.progress = {**job.progress, **message["done"]}
        if not written:
            self._vault.discard_job(identifier)

    def _end(self, identifier: str, state: str, reason: str | None, only: tuple[str, ...] = OPEN) -> None:
        """A job is over; whatever it wrote is removed unless it is done."""
        with self._changes, Session(self._engine) as session, session.begin():
            job = session.get(Job, identifier)
            if job is None or job.state not in only:
                return
            job.state, job.error, job.ended = state, reason[:500] if reason else None, now()
            asker, upload = job.asker, job.spec.get("upload")
        if state != "done":
            self._vault.discard_job(identifier)
        if upload:
            self._datasets.drop(upload)
        self._since.pop(identifier, None)
        self._audit.append(asker, state, job=identifier)
        log.info("a job ended", extra={"job": identifier, "state": state})

    def _turns(self) -> None:
        while not self._stop.wait(_TURN_SECONDS):
            try:
                self._turn()
            except Exception as error:
                log.error("a turn failed", extra={"reason": type(error).__name__})

    def _turn(self) -> None:
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
            self._datasets.expire()
            try:
                self._datasets.catch_up()
                self._catch_up()
            except PeerUnreachable:
                return

    def _catch_up(self) -> None:
        """At the other parties: jobs that have ended at party 0, or never came there, end here as well."""
        if self._settings.number == LEADER:
            return
        with Session(self._engine) as session:
            query = select(Job.id, Job.created).where(Job.state.in_(("waiting", "queued")))
            open_jobs = list(session.execute(query))
        for identifier, created in open_jobs:
            try:
                view = self._peers.call(LEADER, "GET", f"/v1/peer/jobs/{identifier}")
            except Answer as error:
                age = (now().replace(tzinfo=None) - created.replace(tzinfo=None)).total_seconds()
                if error.status == 404 and age > self._settings.patience_seconds:
                    self._end(
                        identifier, "failed", f"party {LEADER} was not given this job", only=("waiting", "queued")
                    )
                continue
            if view["state"] in ("failed", "cancelled"):
                reason = f"party {LEADER}: {view['error']}"
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


def _same_request(spec: dict[str, Any], request: dict[str, Any]) -> bool:
    """Whether a request is the one a known job came from."""
    if spec["kind"] != request["kind"]:
        return False
    if spec["kind"] == "train":
        names = [name for name, _ in spec["datasets"]]
        return names == request["datasets"] and all((RULES | spec)[field] == request[field] for field in TRAINING)
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
        "created": job.created.isoformat(),
    }
