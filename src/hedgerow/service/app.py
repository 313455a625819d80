"""The control API of one party: HTTPS with mutual TLS; the caller's certificate says who is asking."""

from __future__ import annotations

import asyncio
import datetime
import errno
import hashlib
import logging
import time
from collections import Counter as TallyOf
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from .. import __version__
from ..errors import HedgerowError, InputError, PeerError
from ..models.store import share_bytes
from ..transport.certificate import is_revoked
from .audit import AuditLog
from .clock import now
from .consortium import DOMAIN, ROLES, expiry
from .datasets import Caller, Datasets
from .heads import Heads
from .inventory import Inventory
from .jobs import Jobs
from .peers import Answer
from .readiness import Readiness
from .refusal import Forbidden, Refusal
from .settings import PartySettings
from .vault import CHUNK_BYTES, Vault

BODY_SECONDS = 30.0
SLOWEST = 1 << 16
"""Bytes a second that a body must come at, after that: a chunk of some megabytes over a slow line takes minutes."""
JSON_BYTES = 1 << 20
OPEN_TO_ALL = ("/v1/health", "/v1/metrics")
"""What anybody with a certificate of the authority may ask."""
log = logging.getLogger("hedgerow.api")

Identifier = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
Name = Annotated[str, Path(pattern="^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]


DatasetName = Annotated[str, Field(max_length=127)]
"""``owner/name``, or ``name`` alone where that is clear."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _all_text_is_unicode(cls, content: Any) -> Any:
        """JSON can spell half of a character, which no file, database or answer can hold."""
        if not _is_unicode(content):
            raise ValueError("text that is not Unicode, or lists in lists without end")
        return content


def _is_unicode(content: Any, depth: int = 20) -> bool:
    if isinstance(content, str):
        return not any("\ud800" <= char <= "\udfff" for char in content)
    if isinstance(content, dict):
        content = [part for entry in content.items() for part in entry]
    if isinstance(content, list):
        return depth > 0 and all(_is_unicode(part, depth - 1) for part in content)
    return True


class Manifest(_Strict):
    """A table's public facts."""

    name: str = Field(max_length=63)
    rows: int = Field(ge=1, le=1 << 32)
    columns: int = Field(ge=1, le=10_000)
    temporary: bool = False
    schema_: list[dict[str, Any]] = Field(default_factory=list, alias="schema", max_length=10_000)
    rules: dict[str, Any] = Field(default_factory=dict, max_length=20)
    alignment: str = Field(default="", pattern="^(agreed|[0-9a-f]{64})?$")
    keep_days: int = Field(default=0, ge=0, le=36_500)


class RulesRequest(_Strict):
    """An owner's rules for a dataset."""

    rules: dict[str, Any] = Field(max_length=20)


class Finish(_Strict):
    """The checksum of all of a party's shares of a table, and a secret salt for each of its two summands."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    salts: list[str] = Field(min_length=2, max_length=2)


class JobRequest(_Strict):
    """What an analyst asks for. The identifier is chosen by the asker and the same at all parties."""

    id: str = Field(pattern="^[0-9a-f]{32}$")
    kind: Literal["train", "predict", "probabilities", "evaluate"]
    datasets: list[DatasetName] = Field(default_factory=list, max_length=100)
    combine: Literal["rows", "columns"] = "rows"
    target: str = Field(default="", max_length=200)
    max_depth: int | None = Field(default=None, ge=0, le=62)
    algorithm: Literal["fast", "paper"] = "fast"
    min_samples_split: int = Field(default=2, ge=2, le=1 << 40)
    min_samples_leaf: int | None = Field(default=None, ge=1, le=1 << 40)
    min_rows: int | None = Field(default=None, ge=1, le=1 << 40)
    min_count: int | None = Field(default=None, ge=1, le=1 << 40)
    min_impurity_decrease: str = Field(default="0", pattern=r"^[0-9]{1,12}(\.[0-9]{1,18})?$")
    class_weight: dict[str, int] = Field(default_factory=dict, max_length=1000)
    model: str = Field(default="", pattern="^([0-9a-f]{32})?$")
    upload: str = Field(default="", pattern="^([0-9a-f]{32})?$")


class Approval(_Strict):
    """Until when an approval holds, if not for good."""

    days: int | None = Field(default=None, ge=1, le=36_500)


class Identifiers(_Strict):
    """Things that another party asks about."""

    identifiers: list[Annotated[str, Field(pattern="^[0-9a-f]{32}$")]] = Field(max_length=100_000)


class Head(_Strict):
    """How far another party's audit log is."""

    before: int = Field(ge=0, le=1 << 50)
    lines: list[Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(max_length=10_000)
    restored: bool = False


class Start(_Strict):
    """Party 0 starts a job."""

    spec_hash: str = Field(pattern="^[0-9a-f]{64}$")
    attempt: int = Field(ge=1, le=1 << 40)
    key: str = Field(pattern="^[0-9a-f]{64}$")


REVOKED = "this certificate was revoked"
STRANGER = "the certificate's name is not a member of this consortium, or has other roles there"


def caller_of(certificate: dict[str, Any] | None) -> Caller:
    """Who a verified certificate names."""
    names = [value for kind, value in (certificate or {}).get("subjectAltName", ()) if kind == "DNS"]
    member, roles, party = "", [], None
    for name in names:
        label, _, rest = name.partition(".")
        if rest == DOMAIN and label.startswith("party-") and label[6:] in ("0", "1", "2"):
            member, party = label, int(label[6:])
        for role in ROLES:
            if rest == f"{role}.{DOMAIN}":
                member = label
                roles.append(role)
    return Caller(member, tuple(roles), party)


def takes_part(caller: Caller, settings: PartySettings) -> bool:
    """Whether a caller is a party, or a member in the roles that its certificate names."""
    if caller.party is not None:
        return True
    known = settings.consortium.members.get(caller.name, ())
    return bool(known) and bool(caller.roles) and set(caller.roles) <= set(known)


def who(request: Request) -> Caller:
    """The caller, by the connection's certificate."""
    caller = caller_of(request.scope.get("hedgerow.certificate"))
    if not caller.name:
        raise Forbidden("the certificate names no member of this consortium")
    return caller


def member(request: Request) -> Caller:
    """A caller who is a member; one that was taken off the list is refused."""
    caller = who(request)
    settings: PartySettings = request.app.state.settings
    if not takes_part(caller, settings):
        raise Forbidden(STRANGER)
    if caller.party is not None and caller.party != settings.number:
        raise Forbidden("a party may ask this of itself only")
    return caller


def peer(request: Request) -> Caller:
    """A caller who is another party."""
    caller = who(request)
    if caller.party is None:
        raise Forbidden("only parties may ask this")
    return caller


Member = Annotated[Caller, Depends(member)]
Peer = Annotated[Caller, Depends(peer)]


class Metrics:
    """Counters in Prometheus' format."""

    def __init__(self, settings: PartySettings, jobs: Jobs) -> None:
        self._settings, self._jobs = settings, jobs
        self.registry = CollectorRegistry()
        self.requests = Counter("hedgerow_requests_total", "Requests by status", ["status"], registry=self.registry)
        self._states = Gauge("hedgerow_jobs", "Jobs by state", ["state"], registry=self.registry)
        self._running = Gauge("hedgerow_job_processes", "Running job processes", registry=self.registry)
        self._certificate = Gauge(
            "hedgerow_certificate_seconds_left", "Seconds to the certificate's end", registry=self.registry
        )

    def text(self) -> bytes:
        """All metrics now."""
        self._states.clear()
        for state, count in self._jobs.counts().items():
            self._states.labels(state).set(count)
        self._running.set(self._jobs.running)
        self._certificate.set((expiry(self._settings.identity.certificate) - now()).total_seconds())
        return generate_latest(self.registry)


class Limits:
    """Outermost layer: who calls is checked before a body is read; bodies have a largest size and one time for all of
    it; every request is logged and counted."""

    def __init__(self, app: Any, settings: PartySettings, metrics: Callable[[], Metrics]) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = CHUNK_BYTES if "/chunks/" in scope["path"] else JSON_BYTES
        started, status, taken, late = time.monotonic(), 500, 0, False
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        caller = caller_of(scope.get("hedgerow.certificate"))
        shown = scope.get("hedgerow.certificate.der")

        async def limited() -> Any:
            nonlocal taken, late
            allowed = BODY_SECONDS + (int(announced) if announced.isdigit() else 0) / SLOWEST
            try:
                message = await asyncio.wait_for(receive(), max(0.01, started + allowed - time.monotonic()))
            except TimeoutError:
                late = True
                raise
            taken += len(message.get("body", b""))
            if taken > most:
                raise _TooLarge
            return message

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                # Who reads the body may have made something else of the lateness.
                status = 408 if late else message["status"]
                message = {**message, "status": status}
            await send(message)

        try:
            if shown and is_revoked(shown, self._settings.consortium.revoked):
                await JSONResponse({"detail": REVOKED}, 403, {"connection": "close"})(scope, receive, noted)
                return
            if caller.name and not takes_part(caller, self._settings) and scope["path"] not in OPEN_TO_ALL:
                await JSONResponse({"detail": STRANGER}, 403, {"connection": "close"})(scope, receive, noted)
                return
            if not announced.isdigit() or int(announced) > most:
                raise _TooLarge
            await self._app(scope, limited, noted)
        except _TooLarge:
            await JSONResponse({"detail": f"the body is larger than {most} bytes"}, 413)(scope, receive, noted)
        except TimeoutError:
            await JSONResponse({"detail": "the body came too slowly"}, 408)(scope, receive, noted)
        finally:
            self._metrics().requests.labels(status).inc()
            seconds = round(time.monotonic() - started, 4)
            facts = {"method": scope["method"], "path": scope["path"][:200], "status": status, "caller": caller.name}
            # Parties ask each other again and again; what they ask is worth a line only if it fails.
            level = logging.DEBUG if scope["path"].startswith("/v1/peer/") and status < 400 else logging.INFO
            log.log(level, "request", extra={**facts, "seconds": seconds})


class _TooLarge(Exception):
    """A body beyond its limit."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the application serves."""

    settings: PartySettings
    vault: Vault
    datasets: Datasets
    jobs: Jobs
    audit: AuditLog
    heads: Heads
    readiness: Readiness
    inventory: Inventory


def make_app(parts: Parts) -> FastAPI:
    """The application, with everything it serves."""
    settings, datasets, jobs = parts.settings, parts.datasets, parts.jobs
    app = FastAPI(title=f"Hedgerow party {settings.number}", version=__version__, docs_url=None, redoc_url=None)
    app.state.settings = settings
    metrics = Metrics(settings, jobs)
    app.add_middleware(Limits, settings=settings, metrics=lambda: metrics)
    _add_errors(app, parts.audit)
    _add_public(app, parts, metrics)
    _add_datasets(app, datasets)
    _add_jobs(app, jobs)
    _add_models(app, jobs, parts.vault)
    _add_peers(app, parts)
    return app


class _Refusals:
    """Audits what members were refused, so many a minute and the rest as a number: nobody may fill the log with it."""

    MOST, SECONDS = 20, 60.0

    def __init__(self, audit: AuditLog, settings: PartySettings) -> None:
        self._audit, self._settings = audit, settings
        self._since: dict[str, float] = {}
        self._seen: TallyOf[str] = TallyOf()

    def note(self, request: Request, refusal: Refusal) -> None:
        """One refused request."""
        caller = caller_of(request.scope.get("hedgerow.certificate"))
        if (refusal.facts is None and refusal.status != 403) or not takes_part(caller, self._settings):
            return
        moment = time.monotonic()
        if moment - self._since.get(caller.name, -self.SECONDS) >= self.SECONDS:
            left_out = max(0, self._seen[caller.name] - self.MOST)
            self._since[caller.name], self._seen[caller.name] = moment, 0
        else:
            left_out = 0
        self._seen[caller.name] += 1
        if self._seen[caller.name] <= self.MOST:
            facts = refusal.facts or {"path": request.url.path, "method": request.method}
            facts = facts | {"reason": str(refusal)} | ({"left_out": left_out} if left_out else {})
            self._audit.append_later(caller.name, "refused", **facts)


def _add_errors(app: FastAPI, audit: AuditLog) -> None:
    refusals = _Refusals(audit, app.state.settings)
    Handler = Callable[[Request, Exception], Awaitable[Response]]  # noqa: N806

    def answer(status: Callable[[Exception], int]) -> Handler:
        async def handle(_: Request, error: Exception) -> Response:
            return JSONResponse({"detail": str(error)}, status(error))

        return handle

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        places = sorted({".".join(str(part) for part in problem["loc"]) for problem in error.errors()})
        told = ", ".join(places)[:500].encode("utf-8", "replace").decode()
        if places == ["path.identifier"]:
            told = "an identifier has 32 hexadecimal digits"
        return JSONResponse({"detail": f"not valid: {told}"}, 422)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        await run_in_threadpool(refusals.note, request, error)
        return JSONResponse({"detail": str(error)}, error.status)

    async def no_database(_: Request, error: Exception) -> Response:
        log.error("the database failed", extra={"reason": type(error).__name__})
        return JSONResponse({"detail": "this party's database does not answer now; try again later"}, 503)

    async def no_disk(_: Request, error: Exception) -> Response:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        log.error("the disk failed", extra={"reason": type(error).__name__})
        detail = "this party has no room left on its disk" if full else "this party cannot read or write its disk"
        return JSONResponse({"detail": detail}, 507 if full else 500)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(SQLAlchemyError, no_database)
    app.add_exception_handler(OSError, no_disk)
    app.add_exception_handler(InputError, answer(lambda _: 422))
    app.add_exception_handler(PeerError, answer(lambda _: 424))
    app.add_exception_handler(Answer, answer(lambda _: 424))
    app.add_exception_handler(HedgerowError, answer(lambda _: 400))


ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": text}
    for code, text in {
        400: "refused",
        403: "not allowed",
        404: "not there",
        408: "too slow",
        409: "does not fit the present state",
        413: "too large",
        422: "not valid",
        424: "another party failed or is out of reach",
        503: "the database or another part does not answer now",
        507: "no room to store it",
    }.items()
}


def _add_public(app: FastAPI, parts: Parts, metrics: Metrics) -> None:
    settings, jobs = parts.settings, parts.jobs

    @app.get("/v1/health", responses=ERRORS)
    def health(caller: Annotated[Caller, Depends(who)]) -> dict[str, Any]:
        """Whether this party lives, its time, and until when its certificate is valid."""
        until = expiry(settings.identity.certificate).isoformat()
        facts = {"party": settings.number, "version": __version__, "time": now().isoformat()}
        return facts | {"running": jobs.running, "certificate_until": until}

    @app.get("/v1/ready", responses=ERRORS)
    def ready(caller: Member) -> dict[str, Any]:
        """Whether this party can do its work: disk, database, audit log, the other parties, versions and clocks."""
        return parts.readiness.summary()

    @app.get("/v1/leftovers", responses=ERRORS)
    def leftovers(caller: Member) -> list[dict[str, Any]]:
        """For the operator: datasets and models that do not exist at all three parties."""
        _operator(caller)
        return parts.inventory.leftovers()

    @app.delete("/v1/leftovers", responses=ERRORS)
    def remove_leftovers(caller: Member) -> list[dict[str, Any]]:
        """For the operator: remove them here."""
        _operator(caller)
        return parts.inventory.remove_leftovers()

    @app.get("/v1/metrics", responses=ERRORS)
    def show_metrics(caller: Annotated[Caller, Depends(who)]) -> Response:
        """Metrics in Prometheus' text format."""
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _add_datasets(app: FastAPI, datasets: Datasets) -> None:
    @app.get("/v1/datasets", responses=ERRORS)
    def list_datasets(caller: Member) -> list[dict[str, Any]]:
        """Registered datasets you own or may train on."""
        return datasets.listing(caller)

    @app.put("/v1/uploads/{identifier}", responses=ERRORS)
    def begin_upload(identifier: Identifier, manifest: Manifest, caller: Member) -> dict[str, Any]:
        """Announce an upload, or ask how far it is."""
        return datasets.begin(caller, identifier, manifest.model_dump(by_alias=True))

    @app.put("/v1/uploads/{identifier}/chunks/{number}", status_code=204, responses=ERRORS)
    async def put_chunk(
        identifier: Identifier, number: Annotated[int, Path(ge=0, le=1 << 24)], request: Request, caller: Member
    ) -> None:
        """Send one chunk; ``X-Sha256`` must be its checksum."""
        content = await request.body()
        if hashlib.sha256(content).hexdigest() != request.headers.get("x-sha256", ""):
            raise InputError("the chunk's checksum does not fit")
        await run_in_threadpool(datasets.chunk, caller, identifier, number, content)

    @app.post("/v1/uploads/{identifier}/finish", responses=ERRORS)
    def finish_upload(identifier: Identifier, finish: Finish, caller: Member) -> dict[str, Any]:
        """All chunks are sent."""
        return datasets.finish(caller, identifier, finish.sha256, finish.salts)

    @app.post("/v1/uploads/{identifier}/register", responses=ERRORS)
    def register(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """At party 0, when all three parties have the whole upload: make it a dataset."""
        return datasets.register(caller, identifier)

    @app.delete("/v1/datasets/{name}", status_code=204, responses=ERRORS)
    def withdraw(name: Name, caller: Member) -> None:
        """Withdraw a dataset of yours; jobs that use it end."""
        datasets.withdraw(caller, name)

    @app.delete("/v1/datasets/{owner}/{name}", status_code=204, responses=ERRORS)
    def withdraw_by_full_name(owner: Name, name: Name, caller: Member) -> None:
        """Withdraw a dataset of yours; jobs that use it end."""
        datasets.withdraw(caller, f"{owner}/{name}")

    @app.put("/v1/datasets/{name}/rules", status_code=204, responses=ERRORS)
    def set_rules_by_name(name: Name, request: RulesRequest, caller: Member) -> None:
        """Set your rules for a dataset of yours; they hold for everything that has not started."""
        datasets.set_rules(caller, name, request.rules)

    @app.put("/v1/datasets/{owner}/{name}/rules", status_code=204, responses=ERRORS)
    def set_rules(owner: Name, name: Name, request: RulesRequest, caller: Member) -> None:
        """Set your rules for a dataset of yours; they hold for everything that has not started."""
        datasets.set_rules(caller, f"{owner}/{name}", request.rules)


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    @app.post("/v1/jobs/check", responses=ERRORS)
    def check(request: JobRequest, caller: Member) -> dict[str, Any]:
        """Whether a job would be allowed, by which rule it is refused, and who would have to approve it."""
        return jobs.consider(caller, request.model_dump())

    @app.get("/v1/uses", responses=ERRORS)
    def uses(caller: Member) -> list[dict[str, Any]]:
        """As an owner: what used your data, and what waits for your approval."""
        return jobs.uses(caller)

    @app.post("/v1/jobs", responses=ERRORS)
    def submit(request: JobRequest, caller: Member) -> dict[str, Any]:
        """Submit a job; it runs when all three parties have accepted the same one."""
        return jobs.submit(caller, request.model_dump())

    @app.get("/v1/jobs", responses=ERRORS)
    def list_jobs(caller: Member) -> list[dict[str, Any]]:
        """Your jobs; all of them for the operator."""
        return jobs.listing(caller)

    @app.get("/v1/jobs/{identifier}", responses=ERRORS)
    def show_job(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """State and progress of a job."""
        return jobs.view(caller, identifier)

    @app.delete("/v1/jobs/{identifier}", responses=ERRORS)
    def cancel(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Cancel a job."""
        return jobs.cancel(caller, identifier)

    @app.post("/v1/jobs/{identifier}/approve", responses=ERRORS)
    def approve(identifier: Identifier, caller: Member, approval: Approval | None = None) -> dict[str, Any]:
        """The party's operator, or an owner whose data it uses, lets a waiting job go on."""
        days = approval.days if approval else None
        return jobs.approve(caller, identifier, now() + datetime.timedelta(days=days) if days else None)

    @app.post("/v1/jobs/{identifier}/refuse", responses=ERRORS)
    def refuse(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """The party's operator, or an owner whose data it uses, ends a waiting job."""
        return jobs.refuse(caller, identifier)

    @app.get("/v1/jobs/{identifier}/result", responses=ERRORS)
    def result(identifier: Identifier, caller: Member) -> Response:
        """This party's shares of a prediction's result."""
        return Response(jobs.result(caller, identifier), media_type="application/octet-stream")

    @app.delete("/v1/jobs/{identifier}/result", responses=ERRORS)
    def delete_result(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Remove a result of yours here."""
        return jobs.delete(caller, identifier)


def _add_models(app: FastAPI, jobs: Jobs, vault: Vault) -> None:
    @app.delete("/v1/models/{identifier}", responses=ERRORS)
    def delete_model(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """Remove a model of yours here."""
        return jobs.delete(caller, identifier)

    @app.get("/v1/models/{identifier}", responses=ERRORS)
    def show_model(identifier: Identifier, caller: Member) -> dict[str, Any]:
        """The public facts of a model."""
        return jobs.model_view(caller, identifier)

    @app.get("/v1/models/{identifier}/shares", responses=ERRORS)
    def reveal(identifier: Identifier, caller: Member, counts: bool = False) -> Response:
        """This party's shares of a model, if its policy lets you reveal it."""
        jobs.reveal(caller, identifier, counts)
        tree = vault.shown_tree(identifier)
        shown = tree if counts else tree.without_counts()
        return Response(share_bytes(shown), media_type="application/octet-stream")


def _add_peers(app: FastAPI, parts: Parts) -> None:
    datasets, jobs = parts.datasets, parts.jobs

    @app.get("/v1/peer/heads", responses=ERRORS)
    def peer_known(caller: Peer) -> dict[str, Any]:
        """How much of the caller's audit log was seen here."""
        assert caller.party is not None
        return parts.heads.known(caller.party)

    @app.post("/v1/peer/heads", responses=ERRORS)
    def peer_head(head: Head, caller: Peer) -> dict[str, Any]:
        """Keep and sign the head of the caller's audit log, after further lines."""
        assert caller.party is not None
        return parts.heads.countersign(caller.party, head.before, head.lines, head.restored, parts.audit)

    @app.get("/v1/peer/inventory", responses=ERRORS)
    def peer_inventory(caller: Peer) -> dict[str, Any]:
        """The datasets and models that exist here."""
        return parts.inventory.existing()

    @app.post("/v1/peer/reconcile", status_code=204, responses=ERRORS)
    def peer_reconcile(caller: Peer) -> None:
        """The caller was restored from a copy: compare what exists, soon."""
        parts.inventory.ask_soon()

    @app.post("/v1/peer/datasets/states", responses=ERRORS)
    def peer_dataset_states(asked: Identifiers, caller: Peer) -> dict[str, str]:
        """The states of datasets that are known here."""
        return datasets.states(asked.identifiers)

    @app.post("/v1/peer/jobs/states", responses=ERRORS)
    def peer_job_states(asked: Identifiers, caller: Peer) -> dict[str, Any]:
        """The states of jobs that are known here."""
        return jobs.peer_states(asked.identifiers)

    @app.get("/v1/peer/datasets/{identifier}", responses=ERRORS)
    def peer_dataset(identifier: Identifier, caller: Peer) -> dict[str, Any]:
        """State and hashes of an upload."""
        return datasets.peer_view(identifier)

    @app.post("/v1/peer/datasets/{identifier}/registered", status_code=204, responses=ERRORS)
    def peer_registered(identifier: Identifier, caller: Peer) -> None:
        """Party 0 has registered a dataset."""
        _leader(caller)
        datasets.mark_registered(identifier)

    @app.get("/v1/peer/jobs/{identifier}", responses=ERRORS)
    def peer_job(identifier: Identifier, caller: Peer) -> dict[str, Any]:
        """State of a job."""
        return jobs.peer_view(identifier)

    @app.post("/v1/peer/jobs/{identifier}/start", status_code=204, responses=ERRORS)
    def peer_start(identifier: Identifier, start: Start, caller: Peer) -> None:
        """Party 0 starts a job."""
        _leader(caller)
        jobs.peer_start(identifier, start.spec_hash, start.attempt, bytes.fromhex(start.key))

    @app.post("/v1/peer/jobs/{identifier}/stop", status_code=204, responses=ERRORS)
    def peer_stop(identifier: Identifier, caller: Peer) -> None:
        """Party 0 could not start a job everywhere."""
        _leader(caller)
        jobs.peer_stop(identifier)


def _operator(caller: Caller) -> None:
    if caller.party is None:
        raise Forbidden("only this party's own operator may do this")


def _leader(caller: Caller) -> None:
    if caller.party != 0:
        raise Forbidden("only party 0 may do this")
