"""One party's end of one connection: a stream socket (plain or TLS) that carries frames.

A link writes what is queued and reads what has come and never blocks: the transport polls in between, so two parties
that send large messages to each other at the same time cannot deadlock.
"""

import select
import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import MalformedMessage, PeerDisconnected, RunAborted
from .base import Message
from .frame import DUE_BYTES, HEADER_BYTES, Header, Kind, arrival_moment, check_data, data_header, due_bytes

JOIN_BELOW = 1 << 17
_SCRATCH = 1 << 16
_MOST_SIGNS = 1000
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_GONE = (ConnectionError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError, OSError)


def _read_tls(read: Callable[..., Any], into: memoryview) -> int:
    """Read at most one TLS record, with less overhead than ``recv_into``; it is called once per 16 KB."""
    count: int = read(into.nbytes, into)
    return count


def _joined(pieces: list[bytes | memoryview]) -> list[memoryview]:
    """The pieces joined into one, except for a large last one."""
    last = memoryview(pieces[-1])
    if last.nbytes < JOIN_BELOW:
        return [memoryview(b"".join(pieces))]
    return [memoryview(b"".join(pieces[:-1])), last] if len(pieces) > 1 else [last]


class Link:
    """Frames to and from one peer."""

    def __init__(self, peer: int, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.peer = peer
        self.sock = sock
        self.read: Callable[[memoryview], int] = sock.recv_into
        if isinstance(sock, ssl.SSLSocket):
            self.read = partial(_read_tls, sock.read)
        self.outgoing: list[memoryview] = []
        self.sent_count = 0
        self.taken_count = 0
        self.scratch = bytearray(_SCRATCH)
        self.view = memoryview(self.scratch)
        self.start = 0
        self.end = 0
        self.look = select.poll()
        self.look.register(sock, select.POLLIN)
        self.target: memoryview | None = None
        self.later: list[memoryview] = []
        self.expected = 0
        self.due = b""
        self.filled = 0
        self.in_payload = False
        self.arrival = 0.0
        self.waits_for: int | None = None
        self.heard_at = 0.0
        self.signs = 0
        self.deaf = False

    def queue_data(self, party: int, step: str, message: Message, arrival: float) -> None:
        """Queue one DATA frame; the header and small pieces are joined so that they leave together."""
        header = data_header(party, step, self.sent_count, message.nbytes, arrival)
        self.sent_count += 1
        small: list[bytes | memoryview] = [header]
        waiting = 0
        for piece in message.pieces:
            small.append(piece)
            waiting += piece.nbytes
            if waiting >= JOIN_BELOW:
                self.outgoing += _joined(small)
                small, waiting = [], 0
        if small:
            self.outgoing += _joined(small)

    def queue_control(self, kind: Kind, about: int) -> None:
        """Queue a frame without payload."""
        self.outgoing.append(memoryview(Header(kind, about, 0, 0, 0).pack()))

    def flush(self, step: str) -> bool:
        """Write as much as the socket takes; True when nothing is left."""
        while self.outgoing:
            piece = self.outgoing[0]
            try:
                written = self.sock.send(piece)
            except _NOT_NOW:
                return False
            except _GONE:
                raise PeerDisconnected(self.peer, step, "closed the connection") from None
            if written == len(piece):
                self.outgoing.pop(0)
            else:
                self.outgoing[0] = piece[written:]
        return True

    def expect(self, step: str, message: Message) -> None:
        """The next DATA frame shall be of this step and fill the message's pieces."""
        self.target, *self.later = message.pieces
        self.expected = message.nbytes
        self.due = due_bytes(self.peer, step, self.taken_count, message.nbytes)
        self.filled = 0
        self.deaf = False

    def fill(self, step: str) -> bool:
        """Read as much as has come; True when the expected payload is complete."""
        while self.target is not None:
            if not self.in_payload and not self._parse_header(step):
                if not self._read_scratch(step):
                    return False
            elif not self._take_payload(step):
                return False
        return True

    def drain(self) -> None:
        """Throw away what has come, so that a peer that is still sending gets on."""
        self._receive(self.view, "abort")

    def fill_buffered(self, step: str) -> bool:
        """:meth:`fill` if something to read is already in this process's buffers."""
        if self.start != self.end or (isinstance(self.sock, ssl.SSLSocket) and self.sock.pending() > 0):
            return self.fill(step)
        return self.target is None

    def listen(self, step: str) -> None:
        """Look for an ABORT on a link from which no payload is due. An early DATA frame stays where it is."""
        try:
            self._read_scratch(step)
        except PeerDisconnected:
            self.deaf = True
            return
        while self.end - self.start >= HEADER_BYTES:
            header = Header.unpack(self.scratch[self.start : self.start + HEADER_BYTES], self.peer, step)
            if header.kind is Kind.DATA:
                self.deaf = True
                return
            self.start += HEADER_BYTES
            self._take_control(header, step)

    def _read_scratch(self, step: str) -> bool:
        if self.start == self.end:
            self.start = self.end = 0
        elif self.start:
            kept = self.end - self.start
            self.scratch[:kept] = self.scratch[self.start : self.end]
            self.start, self.end = 0, kept
        count = self._receive(self.view[self.end :], step)
        self.end += count
        return count > 0

    def _receive(self, into: memoryview, step: str) -> int:
        try:
            count = self.read(into)
        except _NOT_NOW:
            return 0
        except _GONE:
            raise PeerDisconnected(self.peer, step, "closed the connection") from None
        if count == 0:
            raise PeerDisconnected(self.peer, step, "closed the connection")
        return count

    def _parse_header(self, step: str) -> bool:
        """Take a header off the scratch buffer if one is there: True once the due DATA header has come."""
        while self.end - self.start >= HEADER_BYTES:
            raw = self.scratch[self.start : self.start + HEADER_BYTES]
            self.start += HEADER_BYTES
            if self.target is not None and raw[:DUE_BYTES] == self.due:
                self.arrival = arrival_moment(raw)
                self.waits_for = None
                self.signs = 0
                self.in_payload = True
                return True
            self._take_control(Header.unpack(raw, self.peer, step), step)
        return False

    def _take_control(self, header: Header, step: str) -> None:
        """Act on a frame that is not the payload that is due."""
        if header.kind is Kind.ABORT:
            raise RunAborted(header.about, step, f"stopped the run (reported by party {self.peer})")
        if header.kind is Kind.HELLO:
            raise MalformedMessage(self.peer, step, "sent a handshake in the middle of a run")
        if header.kind is Kind.DATA:
            check_data(header, self.peer, step, self.taken_count, None if self.target is None else self.expected)
            raise MalformedMessage(self.peer, step, "sent a frame in another party's name")
        self.waits_for = header.about
        self.heard_at = time.monotonic()
        self.signs += 1
        if self.signs > _MOST_SIGNS:
            raise MalformedMessage(self.peer, step, "sends WAITING frames without end, and no data")

    def _take_payload(self, step: str) -> bool:
        while True:
            assert self.target is not None
            buffered = min(self.end - self.start, len(self.target) - self.filled)
            if buffered:
                self.target[self.filled : self.filled + buffered] = self.view[self.start : self.start + buffered]
                self.start += buffered
                self.filled += buffered
            while self.filled < len(self.target):
                count = self._receive(self.target[self.filled :], step)
                if count == 0:
                    return False
                self.filled += count
            if not self.later:
                break
            self.target, self.filled = self.later.pop(0), 0
        self.taken_count += 1
        self.in_payload = False
        self.target = None
        return True

    def interest(self) -> int:
        """The poll events this link waits for."""
        wanted = select.POLLOUT if self.outgoing else 0
        return wanted | (0 if self.deaf else select.POLLIN)
