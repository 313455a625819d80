"""``hedgerow party serve``: one party's control API, party port and jobs, until SIGTERM."""

import asyncio
import datetime
import json
import logging
import os
import signal
import socket
import ssl
import sys
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import HedgerowError
from .api.app import make_app
from .api.auth import caller_of
from .api.parts import Parts
from .audit import AuditLog
from .chores import Chores, give_memory_back
from .clock import now
from .consortium import WARNING_DAYS, expiry
from .database import open_database
from .datasets import Datasets
from .gate import Gate
from .heads import Heads, audit_path, check_signatures
from .inventory import Inventory
from .jobs import Jobs
from .lobby import Lobby
from .peers import PartyConnections
from .readiness import Probes, Readiness
from .settings import PartySettings
from .vault import Vault, hold

HEADER_SECONDS = 10.0
"""How long a new caller may take to send a request's headers."""
MOST_CONNECTIONS, MOST_OF_A_MEMBER, MOST_OF_A_PARTY = 400, 24, 64
"""Connections in all, of one member (or of one who is none), and of one party: no caller can take what others need."""
IDLE_SECONDS = 30.0
"""How long a connection is kept between requests: longer than clients keep theirs, which is five seconds."""
_PLAIN = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}
log = logging.getLogger("hedgerow.party")


class Repeats(logging.Filter):
    """Warnings and errors that come again and again are counted: the first few are written, then one per minute."""

    FEW, SECONDS = 5, 60.0

    def __init__(self) -> None:
        super().__init__()
        self._since: dict[tuple[str, str], float] = {}
        self._seen: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written. One that follows others left out says how many."""
        if record.levelno < logging.WARNING:
            return True
        key = (record.name, str(record.msg)[:100])
        if record.created - self._since.setdefault(key, record.created) < self.SECONDS:
            self._seen[key] += 1
            return self._seen[key] <= self.FEW
        record.left_out = max(0, self._seen[key] - self.FEW)
        self._since[key], self._seen[key] = record.created, 1
        return True


class JsonLines(logging.Formatter):
    """One JSON object per line. What is logged are names, sizes, states and kinds of errors, never values."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as JSON."""
        entry: dict[str, Any] = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: value for name, value in record.__dict__.items() if name not in _PLAIN}
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
            places = traceback.extract_tb(record.exc_info[2])
            if places:
                entry["where"] = f"{Path(places[-1].filename).name}:{places[-1].lineno}"
        return json.dumps(entry, default=str)


def log_to_stderr() -> None:
    """All log records as JSON lines on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(Repeats())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for noisy in ("httpx", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


class _Listener(socket.socket):
    """The control API's port. Connections wait in the lobby until TLS has shown who calls."""

    lobby: ClassVar[Lobby] = Lobby()

    def __init__(self, host: str, port: int) -> None:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__(family, socket.SOCK_STREAM)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.bind((host, port))

    def accept(self) -> tuple[socket.socket, Any]:
        """The next caller, taken into the lobby."""
        caller, address = super().accept()
        self.lobby.admit(caller, address[0])
        return caller, address


class CertificateProtocol(H11Protocol):
    """HTTP/1.1 that hands the caller's certificate to the application, keeps callers from taking all connections for
    themselves, and disconnects those who are too slow."""

    callers: ClassVar[Counter[str]] = Counter()
    """Connections by the name in the certificate."""
    _caller: str | None = None

    def connection_made(self, transport: Any) -> None:
        """A caller has connected and shown a certificate of the authority."""
        channel = transport.get_extra_info("ssl_object")
        certificate = channel.getpeercert() if channel is not None else None
        _Listener.lobby.leave(transport.get_extra_info("socket").fileno())
        shown = channel.getpeercert(binary_form=True) if channel is not None else None
        caller = caller_of(certificate)
        most = MOST_OF_A_PARTY if caller.party is not None else MOST_OF_A_MEMBER
        super().connection_made(transport)
        self._idle: asyncio.TimerHandle | None = None
        if self.callers[caller.name] >= most:
            transport.abort()
            return
        self._caller = caller.name
        self.callers[caller.name] += 1
        inner = self.app

        async def named(scope: Any, receive: Any, send: Any) -> None:
            scope["hedgerow.certificate"] = certificate
            scope["hedgerow.certificate.der"] = shown
            await inner(scope, receive, send)

        self.app = named
        self._await_headers(HEADER_SECONDS)

    def connection_lost(self, error: Exception | None) -> None:
        """The caller has gone."""
        super().connection_lost(error)
        if self._caller is not None:
            self.callers[self._caller] -= 1
            self._caller = None
        if self._idle is not None:
            self._idle.cancel()

    def on_response_complete(self) -> None:
        """The next request's headers must come in time, too."""
        super().on_response_complete()
        self._await_headers(IDLE_SECONDS)

    def shutdown(self) -> None:
        """The server ends. Idle callers would not answer TLS's farewell, so it is not waited for."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:
            super().shutdown()

    def _await_headers(self, seconds: float) -> None:
        """One timer per connection, restarted with every response: a caller who goes on asking is not hung up on."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(seconds, self._hang_up_if_idle)

    def _hang_up_if_idle(self) -> None:
        if self.transport.is_closing():
            return
        waiting = self.cycle is None or self.cycle.response_complete
        if waiting and self.conn.their_state is h11.IDLE:
            self.transport.close()


class PartyServer:
    """Everything of one party, put together."""

    def __init__(self, settings: PartySettings) -> None:
        self.settings = settings
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = hold(settings.data)
        vault = Vault(settings.data, settings.seal)
        sealed = settings.data / "sealed"
        if settings.seal.keys and not sealed.exists():
            # The first start with a storage key: what an earlier version wrote in the clear is sealed, once.
            vault.reseal()
            sealed.touch(mode=0o600)
        engine = open_database(settings.database)
        # The log first: it cuts off a line that a crash left unfinished.
        self._audit = audit = AuditLog(audit_path(settings.data))
        check_signatures(settings, audit.hashes)
        self._peers = PartyConnections(settings.consortium, settings.identity, min(10.0, settings.patience_seconds))
        address = settings.consortium.parties[settings.number]
        self._gate = Gate(address.host, address.party, settings.number)
        datasets = Datasets(settings, engine, vault, audit, self._peers)
        self._jobs = Jobs(settings, engine, vault, audit, self._peers, datasets, self._gate)
        heads = Heads(settings, self._peers)
        inventory = Inventory(settings, engine, vault, audit, self._peers)
        readiness = Readiness(settings, engine, vault, heads, self._peers)
        self.app = make_app(Parts(settings, vault, datasets, self._jobs, audit, heads, readiness, inventory))
        self._probes = Probes(settings.probe_port, readiness.summary) if settings.probe_port else None
        self._engine = engine
        self._tls: ssl.SSLContext | None = None
        self._read = _times(settings.files)
        self._chores = Chores()
        self._chores.add("lobby", 0.5, _Listener.lobby.sweep)
        self._chores.add("settings", 1.0, self._reload_if_changed)
        self._chores.add("expiry", min(60.0, settings.countersign_seconds), self._expire)
        self._chores.add("inventory", 1.0, inventory.reconcile_if_wanted)
        self._chores.add("audit heads", settings.countersign_seconds, self._exchange_heads, first=2.0)
        self._chores.add("memory", 10.0, give_memory_back)
        self._heads, self._datasets, self._inventory = heads, datasets, inventory

    def _expire(self) -> None:
        self._datasets.expire()
        self._jobs.desk.expire()

    def _exchange_heads(self) -> None:
        """After a restored copy, until both others have taken note of it."""
        self._heads.exchange(self._audit)
        restored = self.settings.data / "restored"
        if restored.exists() and not self._inventory.wanted and self._heads.restore_is_known():
            restored.unlink()

    def _reload_if_changed(self) -> None:
        """Rules, members, certificates and revocations are taken over as soon as their files change."""
        times = _times(self.settings.files)
        if times == self._read:
            return
        self._read = times
        try:
            self.settings.reload()
        except HedgerowError as error:
            log.error("the settings have a mistake and were not read again", extra={"reason": str(error)})
            return
        identity = self.settings.identity
        if self._tls is not None:
            self._tls.load_cert_chain(identity.certificate, identity.key, identity.passphrase or b"")
        self._peers.renew(identity)
        self._audit.append(f"party-{self.settings.number}", "reload", revoked=len(self.settings.consortium.revoked))
        log.info("the settings were read again")

    def run(self) -> None:
        """Serve until a signal ends it."""
        address, identity = self.settings.consortium.parties[self.settings.number], self.settings.identity
        left = expiry(identity.certificate) - now()
        if left.days < WARNING_DAYS:
            log.warning("the certificate ends soon; renew it", extra={"days": left.days})
        config = uvicorn.Config(
            self.app,
            http=CertificateProtocol,
            ssl_keyfile=str(identity.key),
            ssl_keyfile_password=identity.passphrase.decode() if identity.passphrase else None,
            ssl_certfile=str(identity.certificate),
            ssl_ca_certs=str(identity.authority),
            ssl_cert_reqs=ssl.CERT_REQUIRED,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_keep_alive=int(IDLE_SECONDS),
            timeout_graceful_shutdown=5,
            limit_concurrency=MOST_CONNECTIONS,
            backlog=64,
        )
        config.load()
        assert config.ssl is not None
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_3
        self._tls = config.ssl
        # uvicorn ends on these signals, and raises them again afterwards; by then everything here is to be closed.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        listener = _Listener(address.host, address.control)
        self._gate.start()
        self._jobs.start()
        self._chores.start()
        if self._probes:
            self._probes.start()
        log.info("party serves", extra={"party": self.settings.number, "control": address.control})
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            listener.close()
            self._chores.close()
            if self._probes:
                self._probes.close()
            self._gate.close()
            self._jobs.close()
            self._peers.close()
            self._engine.dispose()
            self._lock.close()
            log.info("party has ended", extra={"party": self.settings.number})


def _times(paths: Iterable[Path]) -> list[int]:
    """When files were last written; zero for one that is being replaced."""
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]


def serve(settings: PartySettings) -> None:
    """Run one party in this process."""
    log_to_stderr()
    # Whatever this process and its jobs write, the database's files included, is nobody else's to read.
    os.umask(0o077)
    PartyServer(settings).run()
