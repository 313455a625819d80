"""What members and operators ask about jobs: submit, look, approve, cancel, fetch, delete."""

import datetime
import threading
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ...errors import HedgerowError
from ...models import ModelFacts
from ..admission import Admission, Admitted, today
from ..caller import Caller
from ..clock import now
from ..database import Charge, Job, Use
from ..datasets import LEADER, check_dataset_name
from ..refusal import Conflict, Forbidden, NotFound, Refusal
from ..runner import Runner
from ..settings import PartySettings
from ..spec import RULES, TRAINING, digest
from .state import OPEN, UNWRITTEN, Event, State
from .store import JobStore, view, waits_for

MOST_OPEN = 200


class JobDesk:
    """The members' side of one party's jobs."""

    def __init__(self, settings: PartySettings, store: JobStore, admission: Admission, runner: Runner) -> None:
        self._settings, self._store, self._admission, self._runner = settings, store, admission, runner
        self._engine, self._audit, self._datasets = store.engine, store.audit, store.datasets
        self._submitting = threading.Lock()

    def submit(self, caller: Caller, request: dict[str, Any]) -> dict[str, Any]:
        """Check a request against policy and rules and queue it; the same request again changes nothing."""
        with Session(self._engine) as session:
            known = session.get(Job, request["id"])
            if known is not None and known.asker == caller.name and _same_request(known.spec, request):
                return view(known)
            query = select(func.count()).select_from(Job).where(Job.asker == caller.name, Job.state.in_(OPEN))
            if (session.scalar(query) or 0) >= MOST_OPEN:
                raise Conflict(f"you have {MOST_OPEN} open jobs; wait for them or cancel some")
        # One at a time: budgets are looked at and charged in one go.
        with self._submitting:
            try:
                admitted = self._admitted(caller, request)
            except (Forbidden, NotFound) as refusal:
                refusal.facts = {"job": request["id"], "kind": request["kind"], "datasets": request["datasets"][:5]}
                raise
            return self._accept(caller, admitted)

    def _admitted(self, caller: Caller, request: dict[str, Any]) -> Admitted:
        caller.need("analyst")
        for name in request["datasets"]:
            check_dataset_name(name)
        return self._admission.admit(caller, request)

    def _accept(self, caller: Caller, admitted: Admitted) -> dict[str, Any]:
        """Note a job that is allowed, what it uses and what it is charged."""
        spec = admitted.spec
        facts = {"job": spec["id"], "kind": spec["kind"], "datasets": admitted.names, "spec": digest(spec)}
        # Before anything happens: what cannot be noted is not done.
        self._audit.append(caller.name, "submit", **facts)
        if "upload" in spec:
            self._datasets.claim(caller, spec["upload"])
        with self._store.changes, Session(self._engine) as session, session.begin():
            known = session.get(Job, spec["id"])
            if known is not None:
                if known.asker != caller.name or known.spec_hash != digest(spec):
                    raise Conflict("a job with this identifier exists already")
                return view(known)
            job = _new_job(caller, admitted)
            session.add(job)
            for dataset in {dataset.id: dataset for dataset in admitted.datasets}.values():
                used = {"dataset": dataset.id, "owner": dataset.owner, "action": admitted.action}
                session.add(Use(job=job.id, asker=caller.name, **used))
            if admitted.charge:
                session.add(Charge(job=job.id, who=caller.name, day=today(), amount=admitted.charge))
            session.flush()
            return view(job)

    def consider(self, caller: Caller, request: dict[str, Any]) -> dict[str, Any]:
        """What would become of a request, without submitting it."""
        caller.need("analyst")
        party = {"party": self._settings.number}
        try:
            admitted = self._admitted(caller, request)
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

    def model_view(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """The public facts of a model, for those who may use it."""
        caller.need("analyst")
        job, facts = self._admission.model(identifier)
        actions = self._admission.may_use(caller.name, job)
        if job.asker != caller.name and not actions:
            raise NotFound("there is no such model")
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
            used = session.scalar(select(Use).where(Use.job == identifier, Use.owner == caller.name))
            if used is not None and "owner" in caller.roles:
                job = session.get(Job, identifier)
                if job is not None:
                    return view(job)
            return view(self._own(session, caller, identifier))

    def listing(self, caller: Caller) -> list[dict[str, Any]]:
        """The caller's jobs; the operator sees all."""
        with Session(self._engine) as session:
            query = select(Job).order_by(Job.created.desc()).limit(1000)
            if caller.party != self._settings.number:
                query = query.where(Job.asker == caller.name)
            return [view(job) for job in session.scalars(query)]

    def uses(self, caller: Caller) -> list[dict[str, Any]]:
        """What used the caller's datasets, newest first: the job, who asked, what for, and how it ended."""
        caller.need("owner")
        with Session(self._engine) as session:
            query = select(Use, Job).join(Job, Job.id == Use.job).where(Use.owner == caller.name)
            found = list(session.execute(query.order_by(Use.created.desc()).limit(1000)))
            names = {use.dataset: self._datasets.by_identifiers([use.dataset])[0].full_name for use, _ in found}
            return [{"dataset": names[use.dataset], "action": use.action, **view(job)} for use, job in found]

    def _own(self, session: Session, caller: Caller, identifier: str) -> Job:
        job = session.get(Job, identifier)
        if job is None or (caller.party != self._settings.number and job.asker != caller.name):
            raise NotFound("there is no such job of yours")
        return job

    def result(self, caller: Caller, identifier: str) -> bytes:
        """This party's shares of a prediction's result, for the submitter alone."""
        with Session(self._engine) as session, session.begin():
            job = self._own(session, caller, identifier)
            if job.state != State.DONE or job.kind == "train" or caller.party is not None:
                raise Conflict(f"the job is {job.state} and has no result to fetch")
            job.fetched = now()
        self._audit.append(caller.name, "fetch", job=identifier)
        return self._store.vault.read_result(identifier)

    def delete(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """Remove a model or a result of the caller's; who made it and from what stays on record."""
        with Session(self._engine) as session:
            state = self._own(session, caller, identifier).state
        if not self._store.change(identifier, Event.DELETE):
            raise Conflict(f"the job is {state}: cancel it first")
        self._store.vault.discard_job(identifier)
        self._audit.append(caller.name, "delete", job=identifier)
        return self.view(caller, identifier)

    def expire(self) -> None:
        """Remove results and models whose time is over."""
        for kinds, days in (
            (("predict", "probabilities", "evaluate"), self._settings.keep_results_days),
            (("train",), self._settings.keep_models_days),
        ):
            if days <= 0:
                continue
            before = now() - datetime.timedelta(days=days)
            with Session(self._engine) as session:
                query = select(Job.id, Job.asker).where(
                    Job.state == State.DONE, Job.kind.in_(kinds), Job.ended < before
                )
                old = list(session.execute(query))
            for identifier, asker in old:
                if self._store.change(identifier, Event.DELETE):
                    self._store.vault.discard_job(identifier)
                    self._audit.append(asker, "expired", job=identifier)

    def approve(self, caller: Caller, identifier: str, until: datetime.datetime | None) -> dict[str, Any]:
        """An owner whose data a job uses, or this party's operator, lets a waiting job go on."""
        with self._store.changes:
            given = {"at": now().isoformat(), "until": until.isoformat() if until else None}
            with Session(self._engine) as session, session.begin():
                job = self._waiting(session, caller, identifier)
                job.approvals = {**(job.approvals or {}), caller.name: given}
                complete = not waits_for(job)
            if complete:
                self._store.change(identifier, Event.APPROVE)
        self._audit.append(caller.name, "approve", job=identifier, until=given["until"])
        return self.view(caller, identifier)

    def refuse(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """An owner or this party's operator does not let a waiting job go on."""
        with Session(self._engine) as session:
            self._waiting(session, caller, identifier)
        self._audit.append(caller.name, "refuse", job=identifier)
        self._store.end(identifier, Event.CANCEL, f"{caller.name} did not approve", only=(State.WAITING,))
        return self.view(caller, identifier)

    def _waiting(self, session: Session, caller: Caller, identifier: str) -> Job:
        """A job that waits for the caller's approval."""
        job = session.get(Job, identifier)
        foreign = caller.party is not None and caller.party != self._settings.number
        if job is None or foreign or caller.name not in (job.approvals or {}):
            raise NotFound("no such job waits, or has waited, for your approval here")
        if job.state != State.WAITING:
            raise Conflict(f"the job is {job.state}")
        return job

    def cancel(self, caller: Caller, identifier: str) -> dict[str, Any]:
        """End a job of the caller's."""
        with Session(self._engine) as session:
            state = self._own(session, caller, identifier).state
        # Once a party other than 0 has written its part, party 0 alone decides how the job ends.
        stoppable = OPEN if self._settings.number == LEADER else UNWRITTEN
        if state in stoppable:
            self._store.end(identifier, Event.CANCEL, f"cancelled by {caller.name}", only=stoppable)
            self._runner.stop(identifier)
        return self.view(caller, identifier)

    def end_uses(self, datasets: Sequence[str]) -> None:
        """Datasets are gone: jobs that are to be trained on them end. What is predicted by earlier models goes on."""
        with Session(self._engine) as session:
            query = select(Job.id).join(Use, Use.job == Job.id).where(Use.dataset.in_(datasets), Use.action == "train")
            affected = list(session.scalars(query.where(Job.state.in_(UNWRITTEN))))
        for identifier in affected:
            self._store.end(identifier, Event.FAIL, "a dataset it uses was withdrawn by its owner", only=UNWRITTEN)
            self._runner.stop(identifier)


def _new_job(caller: Caller, admitted: Admitted) -> Job:
    spec = admitted.spec
    return Job(
        id=spec["id"],
        kind=spec["kind"],
        asker=caller.name,
        state=(State.WAITING if admitted.approvals else State.QUEUED).value,
        spec=spec,
        spec_hash=digest(spec),
        approvals=dict.fromkeys(admitted.approvals),
    )


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
