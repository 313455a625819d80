"""From errors to answers."""

import errno
import logging
import time
from collections import Counter as TallyOf
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from ...errors import HedgerowError, InputError, PeerError
from ..audit import AuditLog
from ..peers import PartyRefused
from ..refusal import Refusal
from ..settings import PartySettings
from .auth import caller_of, takes_part

log = logging.getLogger("hedgerow.api")


class AuditedRefusals:
    """Audits what members were refused, up to a limit per minute, and counts the rest: nobody may flood the log."""

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


def add_errors(app: FastAPI, audit: AuditLog) -> None:
    """Turn every kind of error into an answer that says what to do and nothing else."""
    refusals = AuditedRefusals(audit, app.state.settings)
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
        return JSONResponse(error.answer(), error.status)

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
    app.add_exception_handler(PartyRefused, answer(lambda _: 424))
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
