"""The party-to-party port: one for all jobs. Callers say for which run they come and are handed to its process.

A caller shows a ticket in its first bytes: an HMAC of the run, the caller and the called party, under a key that party
0 drew for this attempt at the job and gave to the two others over the control API. Whoever has no ticket is turned away
without a word, before it can reach a job. The ticket keeps strangers from the door and proves nothing else: mutual TLS
and the handshake follow inside the job's own process.
"""

import contextlib
import hmac
import logging
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

from .lobby import Lobby

SESSION_BYTES, _TAG_BYTES = 16, 32
PREFACE_BYTES = SESSION_BYTES + 1 + _TAG_BYTES
_MOST_HANDED = 16
"""Connections passed on to one run: two are needed, more come from a dial that is tried again."""
log = logging.getLogger("hedgerow.gate")


def preface(key: bytes, session: bytes, sender: int, receiver: int) -> bytes:
    """What a party sends first when it dials another for a run: the run, its own number, and the ticket."""
    said = session + bytes([sender])
    return said + hmac.digest(key, said + bytes([receiver]), "sha256")


@dataclass(slots=True)
class _Run:
    key: bytes
    control: socket.socket | None = None
    early: list[socket.socket] = field(default_factory=list)
    handed: int = 0


class Gate:
    """Listens, and passes connections on to job processes over their control sockets."""

    def __init__(self, host: str, port: int, party: int) -> None:
        self._server = socket.create_server((host, port), backlog=128)
        self._server.setblocking(False)
        self._party = party
        self._runs: dict[bytes, _Run] = {}
        self._said: dict[socket.socket, bytes] = {}
        self._lobby = Lobby()
        self._changes = threading.Lock()
        self._open = True
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._listen, name="gate", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def announce(self, session: bytes, key: bytes) -> None:
        """A run is about to start: callers with its ticket are kept until its process is there."""
        with self._changes:
            self._runs.setdefault(session, _Run(key))

    def expect(self, session: bytes, control: socket.socket) -> None:
        """Hand callers of an announced run to the process behind ``control``."""
        with self._changes:
            run = self._runs[session]
            run.control = control
            early, run.early = run.early, []
            for caller in early:
                _hand_over(control, caller)

    def forget(self, session: bytes) -> None:
        """No more callers for this run."""
        with self._changes:
            run = self._runs.pop(session, None)
            for caller in run.early if run else ():
                caller.close()

    def close(self) -> None:
        """Stop listening."""
        self._open = False
        if self._thread.is_alive():
            self._thread.join(5)
        for caller in list(self._said):
            caller.close()
        self._selector.close()
        self._server.close()

    def _listen(self) -> None:
        self._selector.register(self._server, selectors.EVENT_READ)
        while self._open:
            for key, _ in self._selector.select(0.25):
                if key.fileobj is self._server:
                    self._accept()
                else:
                    assert isinstance(key.fileobj, socket.socket)
                    self._read(key.fileobj)
            self._lobby.sweep()

    def _accept(self) -> None:
        try:
            caller, address = self._server.accept()
        except BlockingIOError:
            return
        except OSError as error:
            log.warning("a caller could not be taken", extra={"reason": type(error).__name__})
            time.sleep(0.1)
            return
        caller.setblocking(False)
        self._said[caller] = b""
        self._selector.register(caller, selectors.EVENT_READ)
        self._lobby.admit(caller, address[0])

    def _read(self, caller: socket.socket) -> None:
        """Take what a caller says; with all of its preface it is let in or turned away."""
        try:
            piece = caller.recv(PREFACE_BYTES - len(self._said[caller]))
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._said[caller] += piece
        if piece and len(self._said[caller]) < PREFACE_BYTES:
            return
        self._selector.unregister(caller)
        self._lobby.leave(caller.fileno())
        said = self._said.pop(caller)
        if len(said) < PREFACE_BYTES or not self._let_in(caller, said):
            caller.close()

    def _let_in(self, caller: socket.socket, said: bytes) -> bool:
        session, sender = said[:SESSION_BYTES], said[SESSION_BYTES]
        with self._changes:
            run = self._runs.get(session)
            if run is None or run.handed >= _MOST_HANDED:
                return False
            if not hmac.compare_digest(said, preface(run.key, session, sender, self._party)):
                return False
            run.handed += 1
            caller.setblocking(True)
            if run.control is None:
                run.early.append(caller)
            else:
                _hand_over(run.control, caller)
            return True


def _hand_over(control: socket.socket, caller: socket.socket) -> None:
    """Pass a connection to a job's process; one that has ended takes none."""
    with contextlib.suppress(OSError):
        socket.send_fds(control, [b"c"], [caller.fileno()])
    caller.close()
