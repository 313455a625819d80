"""The party-to-party port: one for all jobs. Callers say for which session they come and are handed to its process.

The first 16 bytes of a connection name the session; they are no secret and prove nothing. Mutual TLS and the handshake
follow inside the job's own process.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time

PREFACE_BYTES = 16
_PREFACE_SECONDS = 10.0
_UNKNOWN_SECONDS = 15.0
_MOST_CALLERS = 64


class Gate:
    """Listens, and passes connections on to job processes over their control sockets."""

    def __init__(self, host: str, port: int, patience: float) -> None:
        self._server = socket.create_server((host, port), backlog=32)
        self._patience = patience
        self._waiting: dict[bytes, socket.socket] = {}
        self._changed = threading.Condition()
        self._slots = threading.BoundedSemaphore(_MOST_CALLERS)
        self._open = True
        self._thread = threading.Thread(target=self._listen, name="gate", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def expect(self, session: bytes, control: socket.socket) -> None:
        """Hand callers of a session to the process behind ``control``."""
        with self._changed:
            self._waiting[session] = control
            self._changed.notify_all()

    def forget(self, session: bytes) -> None:
        """No more callers for this session."""
        with self._changed:
            self._waiting.pop(session, None)

    def close(self) -> None:
        """Stop listening."""
        self._open = False
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _listen(self) -> None:
        while self._open:
            try:
                caller, _ = self._server.accept()
            except OSError:
                return
            if not self._slots.acquire(blocking=False):
                caller.close()
                continue
            threading.Thread(target=self._receive, args=(caller,), daemon=True).start()

    def _receive(self, caller: socket.socket) -> None:
        """Read the session and pass the connection on; whoever is too slow or unexpected is turned away."""
        try:
            deadline = time.monotonic() + _PREFACE_SECONDS
            session = b""
            while len(session) < PREFACE_BYTES:
                caller.settimeout(max(0.01, deadline - time.monotonic()))
                piece = caller.recv(PREFACE_BYTES - len(session))
                if not piece:
                    return
                session += piece
            with self._changed:
                if not self._changed.wait_for(lambda: session in self._waiting, min(self._patience, _UNKNOWN_SECONDS)):
                    return
                control = self._waiting[session]
            caller.settimeout(None)
            socket.send_fds(control, [b"c"], [caller.fileno()])
        except OSError:
            return
        finally:
            caller.close()
            self._slots.release()
