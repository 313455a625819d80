"""Whether a party can do its work: disk, database, audit log, the other parties, their versions and clocks."""

import datetime
import http.server
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from .. import __version__
from ..errors import HedgerowError
from .clock import now
from .consortium import WARNING_DAYS, expiry
from .heads import Heads
from .peers import PartyConnections
from .settings import PartySettings
from .vault import Vault

MOST_SKEW = 60.0
"""Seconds that the clocks of two parties may differ."""
log = logging.getLogger("hedgerow.party")


class Readiness:
    """Looks at everything a job needs. Each check is None, or says what is wrong."""

    def __init__(
        self, settings: PartySettings, engine: Engine, vault: Vault, heads: Heads, peers: PartyConnections
    ) -> None:
        self._settings, self._engine, self._vault, self._heads, self._peers = settings, engine, vault, heads, peers

    def checks(self) -> dict[str, str | None]:
        """All checks, now."""
        left = expiry(self._settings.identity.certificate) - now()
        free = self._vault.free()
        found = {
            "disk": None if free >= self._settings.reserve_bytes else f"only {free:,} bytes are free",
            "database": self._database(),
            "audit": self._heads.problem,
            "settings": self._settings.problem,
            "certificate": None if left.days >= WARNING_DAYS else f"ends in {left.days} days",
        }
        for party in self._settings.others:
            found[f"party-{party}"] = self._peer(party)
        return found

    def _database(self) -> str | None:
        try:
            with self._engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except SQLAlchemyError as error:
            return f"does not answer ({type(error).__name__})"
        return None

    def _peer(self, party: int) -> str | None:
        try:
            view = self._peers.call(party, "GET", "/v1/health")
        except HedgerowError as error:
            return str(error)
        if view["version"] != __version__:
            return f"has version {view['version']}, this party {__version__}"
        skew = abs((datetime.datetime.fromisoformat(view["time"]) - now()).total_seconds())
        return f"its clock differs from this party's by {skew:.0f} s" if skew > MOST_SKEW else None

    def summary(self) -> dict[str, Any]:
        """``ready`` only if jobs can run; a certificate that ends soon is told and does not count."""
        checks = self.checks()
        return {
            "ready": all(not problem for name, problem in checks.items() if name != "certificate"),
            "checks": checks,
        }


class Probes:
    """``/health`` and ``/ready`` for this machine alone, without certificates, as orchestrators ask."""

    def __init__(self, port: int, summary: Callable[[], dict[str, Any]]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/health":
                    self._answer(200, {"alive": True})
                elif self.path == "/ready":
                    found = summary()
                    self._answer(200 if found["ready"] else 503, found)
                else:
                    self._answer(404, {"detail": "ask for /health or /ready"})

            def _answer(self, status: int, content: dict[str, Any]) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Probes come every few seconds; nobody wants to read of them."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="probes", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
