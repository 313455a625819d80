"""The outermost layer: who calls, how much they may send and how slowly."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from fastapi.responses import JSONResponse

from ...transport.certificate import is_revoked
from ..settings import PartySettings
from ..vault import CHUNK_BYTES
from .auth import REVOKED, STRANGER, caller_of, takes_part
from .metrics import Metrics

BODY_SECONDS = 30.0
SLOWEST = 1 << 16
"""Bytes per second at which a body must arrive after that: a chunk of some megabytes over a slow line takes minutes."""
JSON_BYTES = 1 << 20
OPEN_TO_ALL = ("/v1/health", "/v1/metrics")
"""What anybody with a certificate of the authority may ask."""
log = logging.getLogger("hedgerow.api")


class _TooLarge(Exception):
    """A body beyond its limit."""


class _Body:
    """A request's body while it is read: no larger than announced limits, and not too slow."""

    def __init__(self, scope: Any, receive: Any, started: float) -> None:
        self._receive, self._started = receive, started
        self.most = CHUNK_BYTES if "/chunks/" in scope["path"] else JSON_BYTES
        self._announced = dict(scope["headers"]).get(b"content-length", b"0")
        self._taken = 0
        self.late = False

    def check_announced(self) -> None:
        """Refuse a body that says it is too large."""
        if not self._announced.isdigit() or int(self._announced) > self.most:
            raise _TooLarge

    async def receive(self) -> Any:
        """The next part."""
        allowed = BODY_SECONDS + (int(self._announced) if self._announced.isdigit() else 0) / SLOWEST
        try:
            message = await asyncio.wait_for(self._receive(), max(0.01, self._started + allowed - time.monotonic()))
        except TimeoutError:
            self.late = True
            raise
        self._taken += len(message.get("body", b""))
        if self._taken > self.most:
            raise _TooLarge
        return message


class Limits:
    """Who calls is checked before a body is read; bodies have a largest size and one time for all of it; every request
    is logged and counted."""

    def __init__(self, app: Any, settings: PartySettings, metrics: Callable[[], Metrics]) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 500
        body = _Body(scope, receive, started)

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                # Whoever reads the body may have turned the timeout into another error.
                status = 408 if body.late else message["status"]
                message = {**message, "status": status}
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, noted)
                return
            body.check_announced()
            await self._app(scope, body.receive, noted)
        except _TooLarge:
            await JSONResponse({"detail": f"the body is larger than {body.most} bytes"}, 413)(scope, receive, noted)
        except TimeoutError:
            await JSONResponse({"detail": "the body came too slowly"}, 408)(scope, receive, noted)
        finally:
            self._note(scope, status, round(time.monotonic() - started, 4))

    def _refusal(self, scope: Any) -> JSONResponse | None:
        """What is told to somebody who may not ask at all."""
        shown, caller = scope.get("hedgerow.certificate.der"), caller_of(scope.get("hedgerow.certificate"))
        if shown and is_revoked(shown, self._settings.consortium.revoked):
            return JSONResponse({"detail": REVOKED}, 403, {"connection": "close"})
        if caller.name and not takes_part(caller, self._settings) and scope["path"] not in OPEN_TO_ALL:
            return JSONResponse({"detail": STRANGER}, 403, {"connection": "close"})
        return None

    def _note(self, scope: Any, status: int, seconds: float) -> None:
        self._metrics().requests.labels(status).inc()
        caller = caller_of(scope.get("hedgerow.certificate"))
        facts = {"method": scope["method"], "path": scope["path"][:200], "status": status, "caller": caller.name}
        # Parties ask each other again and again; what they ask is worth a line only if it fails.
        level = logging.DEBUG if scope["path"].startswith("/v1/peer/") and status < 400 else logging.INFO
        log.log(level, "request", extra={**facts, "seconds": seconds})
