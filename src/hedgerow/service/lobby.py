"""Callers who have not yet shown who they are: few at a time, for a short time, and never at others' expense."""

import contextlib
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass

MOST_WAITING = 192
MOST_OF_AN_ADDRESS = 96
"""Connections that may be unidentified at one time, in all and from one address."""
HANDSHAKE_SECONDS = 5.0
"""How long a caller may take to say who it is."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    caller: socket.socket
    address: str
    since: float


class Lobby:
    """Unidentified connections. Where there is no room, the one that has waited longest makes it.

    An honest caller says who it is at once, so the longest wait is the best sign of one who never will. Room is made
    among callers of the same address, or else of the address that has most of them: no number of strangers keeps a
    caller from another address out.
    """

    def __init__(self, seconds: float = HANDSHAKE_SECONDS) -> None:
        self._seconds = seconds
        self._waiting: dict[int, _Waiting] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def admit(self, caller: socket.socket, address: str) -> None:
        """A new connection; perhaps another one must go for it."""
        with self._lock:
            self._forget_closed()
            by_address = Counter(waiting.address for waiting in self._waiting.values())
            if by_address[address] >= MOST_OF_AN_ADDRESS:
                self._turn_away_oldest(address)
            elif len(self._waiting) >= MOST_WAITING:
                self._turn_away_oldest(by_address.most_common(1)[0][0])
            self._waiting[caller.fileno()] = _Waiting(caller, address, time.monotonic())

    def leave(self, descriptor: int) -> None:
        """The caller behind a file descriptor has said who it is, or has gone."""
        with self._lock:
            self._waiting.pop(descriptor, None)

    def sweep(self) -> None:
        """Turn away those who took too long."""
        latest = time.monotonic() - self._seconds
        with self._lock:
            self._forget_closed()
            for key in [key for key, waiting in self._waiting.items() if waiting.since < latest]:
                _hang_up(self._waiting.pop(key).caller)

    def _forget_closed(self) -> None:
        for key in [key for key, waiting in self._waiting.items() if waiting.caller.fileno() < 0]:
            del self._waiting[key]

    def _turn_away_oldest(self, address: str) -> None:
        """Entries are in the order of their arrival."""
        oldest = next(key for key, waiting in self._waiting.items() if waiting.address == address)
        _hang_up(self._waiting.pop(oldest).caller)


def _hang_up(caller: socket.socket) -> None:
    """Whoever reads from the connection sees its end and closes it."""
    with contextlib.suppress(OSError):
        caller.shutdown(socket.SHUT_RDWR)
