"""Parties in different processes or machines: TCP, plain or with mutual TLS."""

import contextlib
import hmac
import os
import queue
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..errors import HandshakeMismatch, MalformedMessage, PeerError, PeerTimeout, PeerUnreachable
from .base import PARTIES, LinkShaping, Message, Network, Timeouts, Transport, sleep_until
from .certificate import Identity, party_name, tls_reason
from .frame import HEADER_BYTES, Header, Kind
from .link import JOIN_BELOW, Link

PROTOCOL_VERSION = 6
_HELLO = struct.Struct("<8sHBB16s32s")
_NAME = b"HEDGEROW"
_SOCKET_BUFFER = 4 << 20
_FAREWELL_SECONDS = 1.0
_GREETING_SECONDS = 10.0
"""How long a caller may take to show who it is."""
_LOOKS = 1000


class Acceptor(Protocol):
    """The part of a listening socket that is needed here."""

    def accept(self) -> tuple[socket.socket, object]:
        """The next caller."""

    def settimeout(self, value: float | None, /) -> None:
        """How long :meth:`accept` waits."""


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """What the parties must have in common before they talk: a session and the hash of the run's configuration."""

    session: bytes
    configuration: bytes

    def __post_init__(self) -> None:
        if len(self.session) != 16 or len(self.configuration) != 32:
            raise ValueError("a session id has 16 bytes and a configuration hash 32")


class SocketTransport(Transport):
    """One party's two connections. Plain TCP hides nothing from the network: use TLS outside of one machine."""

    def __init__(self, party: int, links: dict[int, Link], timeouts: Timeouts, network: Network | None = None) -> None:
        super().__init__(party)
        self.links = links
        self.timeouts = timeouts
        self.shapes: dict[int, LinkShaping] = {peer: network.link() for peer in links} if network else {}
        self.poll = select.poll()

    def _exchange(self, step: str, sends: list[tuple[int, Message]], takes: list[tuple[int, Message]]) -> None:
        largest = 0
        for peer, message in sends:
            arrival = self.shapes[peer].arrival(message.nbytes) if self.shapes else 0.0
            self.links[peer].queue_data(self.party, step, message, arrival)
            largest = max(largest, message.nbytes)
        for peer, message in takes:
            self.links[peer].expect(step, message)
            largest = max(largest, message.nbytes)
        if largest >= JOIN_BELOW or not self._quick(step, takes):
            self._pump(step, time.monotonic() + self.timeouts.allowance(largest))
        if self.shapes:
            for peer, _ in takes:
                sleep_until(self.links[peer].arrival, peer, step, self.timeouts.allowance(largest))

    def _quick(self, step: str, takes: list[tuple[int, Message]]) -> bool:
        """A round of small messages: write, then look again and again for a moment before going to sleep.

        Waking a sleeping process costs more than a small round itself, so the processor is offered to others between
        looks instead. Only links from which something is due are looked at: the other neighbour may be a round ahead.
        False when the moment has passed and polling must take over.
        """
        for link in self.links.values():
            if link.outgoing and not link.flush(step):
                return False
        waiting = [link for link in (self.links[peer] for peer, _ in takes) if not link.fill_buffered(step)]
        for _ in range(_LOOKS):
            if not waiting:
                return True
            ready = [link for link in waiting if link.look.poll(0)]
            for link in ready:
                if link.fill(step):
                    waiting.remove(link)
            if not ready:
                os.sched_yield()
        return not waiting

    def _pump(self, step: str, deadline: float) -> None:
        """Write and read on both links, without blocking on either, until the round is complete."""
        links = list(self.links.values())
        for link in links:
            link.flush(step)
        for link in links:
            link.fill_buffered(step)
        beat = self.timeouts.seconds / 8
        next_beat = time.monotonic() + beat
        while open_links := [link for link in links if link.outgoing or link.target is not None]:
            for link in links:
                self.poll.register(link.sock, link.interest())
            events = dict(self.poll.poll(1000 * max(0.0, min(next_beat, deadline) - time.monotonic())))
            for link in links:
                self._serve(link, events.get(link.sock.fileno(), 0), step)
            now = time.monotonic()
            if now > deadline:
                raise self._late(open_links, step)
            if now > next_beat:
                self._tell_waiting(step)
                next_beat = now + beat

    @staticmethod
    def _serve(link: Link, events: int, step: str) -> None:
        if link.outgoing:
            link.flush(step)
        if not events & ~select.POLLOUT:
            return
        if link.target is not None:
            link.fill(step)
        elif not link.deaf:
            link.listen(step)

    def _tell_waiting(self, step: str) -> None:
        """Tell each neighbour that this party is alive and for whom it waits, so that blame goes to the right one."""
        for link in self.links.values():
            other = self.links[self._other(link.peer)]
            waits_for = other.peer if other.target is not None or other.outgoing else link.peer
            if not link.outgoing:
                link.queue_control(Kind.WAITING, waits_for)
                link.flush(step)

    def _other(self, peer: int) -> int:
        return 3 - self.party - peer

    def _late(self, open_links: Sequence[Link], step: str) -> PeerTimeout:
        """The error for a round that was not complete in time, naming the party everybody waits for."""
        recent = time.monotonic() - self.timeouts.seconds / 4
        for link in open_links:
            if link.waits_for == self._other(link.peer) and link.heard_at > recent:
                blamed = self._other(link.peer)
                problem = f"kept party {link.peer} and so this one waiting for {self.timeouts.seconds:g} s"
                return PeerTimeout(blamed, step, problem)
        stuck = open_links[0]
        doing = "sent nothing (or too little)" if stuck.target is not None else "took no data"
        return PeerTimeout(stuck.peer, step, f"{doing} for {self.timeouts.seconds:g} s")

    def abort(self, culprit: int) -> None:
        """Tell both neighbours who is at fault, give them a moment to read it, then close."""
        deadline = time.monotonic() + _FAREWELL_SECONDS
        leaving = list(self.links.values())
        for link in leaving:
            link.queue_control(Kind.ABORT, culprit)
        while leaving and time.monotonic() < deadline:
            for link in list(leaving):
                with contextlib.suppress(PeerError, OSError, ValueError):
                    if not link.outgoing:
                        leaving.remove(link)
                        link.sock.shutdown(socket.SHUT_WR)
                    else:
                        link.flush("abort")
                        link.drain()
            time.sleep(0.005)
        for link in self.links.values():
            with contextlib.suppress(OSError, ValueError):
                link.sock.settimeout(max(0.01, deadline - time.monotonic()))
                while time.monotonic() < deadline and link.sock.recv(1 << 16):
                    continue
        self.close()

    def close(self) -> None:
        """Close both connections."""
        for link in self.links.values():
            with contextlib.suppress(OSError):
                link.sock.close()


def listen(address: tuple[str, int]) -> socket.socket:
    """A listening socket; port 0 lets the system choose one."""
    return socket.create_server(address, backlog=8)


def connect(
    party: int,
    server: Acceptor,
    addresses: Sequence[tuple[str, int]],
    agreement: SessionTerms,
    identity: Identity | None = None,
    timeouts: Timeouts | None = None,
    network: Network | None = None,
    prefaces: Mapping[int, bytes] | None = None,
) -> SocketTransport:
    """Connect to both other parties: to lower numbers by dialling, from higher numbers by accepting.

    ``server`` is a listening socket or anything else with ``accept`` and ``settimeout``. ``prefaces`` are sent first
    when dialling a peer, for one that serves several runs on one port. With an identity every connection is mutual
    TLS 1.3 and the peer's certificate must carry its party name.
    """
    timeouts = timeouts or Timeouts()
    deadline = time.monotonic() + timeouts.seconds
    links: dict[int, Link] = {}
    try:
        for peer in range(party):
            sock = _dial(peer, addresses[peer], identity, deadline, (prefaces or {}).get(peer, b""))
            _shake_hands(party, peer, sock, agreement, deadline)
            links[peer] = Link(peer, sock)
        awaited = set(range(party + 1, PARTIES))
        for peer, sock in _accept_all(party, server, awaited, identity, agreement, deadline).items():
            links[peer] = Link(peer, sock)
    except BaseException:
        for link in links.values():
            link.sock.close()
        raise
    ordered = {peer: links[peer] for peer in sorted(links)}
    return SocketTransport(party, ordered, timeouts, network)


def _prepare(sock: socket.socket, deadline: float) -> None:
    sock.settimeout(max(0.01, deadline - time.monotonic()))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BUFFER)


def _dial(
    peer: int, address: tuple[str, int], identity: Identity | None, deadline: float, preface: bytes
) -> socket.socket:
    """Dial until connected. A connection cut before TLS is up is tried again: the port may be busy with others."""
    context = identity.client_context() if identity else None
    pause = 0.02
    while True:
        try:
            sock = socket.create_connection(address, timeout=max(0.01, deadline - time.monotonic()))
        except OSError:
            sock = None
        if sock is not None:
            try:
                _prepare(sock, deadline)
                sock.sendall(preface)
                return context.wrap_socket(sock, server_hostname=party_name(peer)) if context else sock
            except OSError as error:
                sock.close()
                if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
                    raise HandshakeMismatch(peer, "connect", f"TLS was refused ({tls_reason(error)})") from None
        if time.monotonic() > deadline:
            where = f"{address[0]}:{address[1]}"
            raise PeerUnreachable(peer, "connect", f"no connection to {where} within the time-out")
        time.sleep(pause)
        pause = min(2 * pause, 0.5)


def _accept_all(
    party: int, server: Acceptor, awaited: set[int], identity: Identity | None, agreement: SessionTerms, deadline: float
) -> dict[int, socket.socket]:
    """Accept until all awaited parties have shown themselves.

    Every caller is greeted in a thread of its own, so that strangers, silent or not, do not delay the parties.
    """
    found: dict[int, socket.socket] = {}
    callers: queue.SimpleQueue[tuple[int, socket.socket] | HandshakeMismatch | None] = queue.SimpleQueue()
    turned_away = ""
    while awaited - found.keys():
        if time.monotonic() > deadline:
            missing = min(awaited - found.keys())
            raise PeerUnreachable(missing, "connect", f"did not connect within the time-out{turned_away}")
        server.settimeout(0.01)
        with contextlib.suppress(TimeoutError):
            raw, _ = server.accept()
            arguments = (party, raw, identity, agreement, deadline, callers)
            threading.Thread(target=_greet, args=arguments, daemon=True).start()
        while not callers.empty():
            caller = callers.get()
            if isinstance(caller, HandshakeMismatch):
                raise caller
            if caller is None:
                turned_away = "; callers without its certificate were turned away"
            elif caller[0] in awaited:
                found[caller[0]] = caller[1]
    return found


def _greet(
    party: int,
    raw: socket.socket,
    identity: Identity | None,
    agreement: SessionTerms,
    deadline: float,
    callers: queue.SimpleQueue[tuple[int, socket.socket] | HandshakeMismatch | None],
) -> None:
    """Find out who called; strangers are disconnected without an answer."""
    try:
        deadline = min(deadline, time.monotonic() + _GREETING_SECONDS)
        _prepare(raw, deadline)
        sock = identity.server_context().wrap_socket(raw, server_side=True) if identity else raw
        callers.put((_shake_hands(party, None, sock, agreement, deadline), sock))
    except HandshakeMismatch as mismatch:
        raw.close()
        callers.put(mismatch)
    except (OSError, PeerError):
        raw.close()
        callers.put(None)


def _shake_hands(party: int, peer: int | None, sock: socket.socket, agreement: SessionTerms, deadline: float) -> int:
    """Exchange HELLO frames and compare; returns the peer's number. The dialling side knows it beforehand."""
    sock.settimeout(max(0.01, deadline - time.monotonic()))
    shown = peer if peer is not None else party
    hello = _HELLO.pack(_NAME, PROTOCOL_VERSION, party, shown, agreement.session, agreement.configuration)
    try:
        sock.sendall(Header(Kind.HELLO, party, 0, 0, len(hello)).pack() + hello)
        raw = _read_exactly(sock, HEADER_BYTES + _HELLO.size)
    except (OSError, EOFError):
        raise PeerUnreachable(shown, "handshake", "ended the connection during the handshake") from None
    header = Header.unpack(raw[:HEADER_BYTES], shown, "handshake")
    name, version, claimed, _, session, configuration = _HELLO.unpack(raw[HEADER_BYTES:])
    if header.kind is not Kind.HELLO or name != _NAME or claimed >= PARTIES or claimed == party:
        raise MalformedMessage(shown, "handshake", "did not greet as a Hedgerow party")
    if peer is not None and claimed != peer:
        raise HandshakeMismatch(peer, "handshake", f"answered as party {claimed}")
    if isinstance(sock, ssl.SSLSocket) and not _certificate_names(sock, claimed):
        # The party itself did not send this, so the run goes on: the accepting side closes the connection silently.
        raise MalformedMessage(claimed, "handshake", "somebody else greeted in its name")
    if version != PROTOCOL_VERSION:
        raise HandshakeMismatch(claimed, "handshake", f"speaks protocol {version}, this party {PROTOCOL_VERSION}")
    if not hmac.compare_digest(session, agreement.session):
        raise HandshakeMismatch(claimed, "handshake", "takes part in another session")
    if not hmac.compare_digest(configuration, agreement.configuration):
        raise HandshakeMismatch(claimed, "handshake", "was given another run configuration")
    return int(claimed)


def _certificate_names(sock: ssl.SSLSocket, party: int) -> bool:
    certificate = sock.getpeercert() or {}
    return ("DNS", party_name(party)) in certificate.get("subjectAltName", ())


def _read_exactly(sock: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = sock.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts
