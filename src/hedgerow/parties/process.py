"""Three party processes on this machine, over mutual TLS on loopback (or plain TCP), ready to run programs."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import PeerDisconnected, PeerError
from ..transport import NETWORKS, Meter, SessionTerms, Timeouts, make_identities


@dataclass(frozen=True, slots=True)
class PartyReport:
    """What one party gives back: its result, and what the run took there."""

    result: Any
    seconds: float
    cpu_seconds: float
    meter: Meter
    peak_rss_mb: float


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a running program is: layer and step, and the rounds and bytes spent so far at one party."""

    layer: int
    step: str
    rounds: int
    sent: int


Progress = Callable[[Moment], None]


_running: set[subprocess.Popen[bytes]] = set()
"""Party processes of this process that were not ended yet; each leads a group of three parties."""


def end_all() -> None:
    """End all party processes of this process at once."""
    for process in list(_running):
        _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class PartyProcesses:
    """A context manager that starts three party processes and stops them again.

    ``run`` takes a module-level function ``program(ctx, …)`` and, for every further parameter, three values, one for
    each party. The processes descend from this one and trust it alone; towards each other they are ordinary peers.
    """

    def __init__(
        self, tls: bool = True, network: str = "loopback", timeouts: Timeouts | None = None, configuration: bytes = b""
    ) -> None:
        if network not in NETWORKS:
            raise ValueError(f"unknown network '{network}'; choose one of {', '.join(NETWORKS)}")
        self.owners: list[Connection] = []
        self._process = self._start()
        self._directory = tempfile.TemporaryDirectory(prefix="hedgerow-")
        identities = make_identities(Path(self._directory.name)) if tls else [None] * 3
        terms = SessionTerms(secrets.token_bytes(16), configuration.ljust(32, b"\0")[:32])
        try:
            self.pids, addresses = zip(*(owner.recv() for owner in self.owners), strict=True)
            for party, owner in enumerate(self.owners):
                owner.send((party, addresses, terms, identities[party], timeouts or Timeouts(), NETWORKS[network]))
            for reply in self._replies():
                assert reply == ("ready",)
        except BaseException:
            self.abandon()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        pairs = [socket.socketpair() for _ in range(3)]
        descriptors = [theirs.fileno() for _, theirs in pairs]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p), OMP_NUM_THREADS="1")
        command = [sys.executable, "-m", "hedgerow.parties.main", *map(str, descriptors)]
        # In a session of its own: Ctrl-C at a terminal is for the process that owns the parties, not for them.
        process = subprocess.Popen(command, pass_fds=descriptors, env=environment, start_new_session=True)
        _running.add(process)
        for ours, theirs in pairs:
            theirs.close()
            self.owners.append(Connection(ours.detach()))
        return process

    def _replies(self, progress: Progress | None = None) -> list[tuple[Any, ...]]:
        """One reply of every party; the most telling error is raised after all have answered."""
        replies: list[tuple[Any, ...]] = []
        for party, owner in enumerate(self.owners):
            try:
                reply = owner.recv()
                while reply[0] == "progress":
                    if progress is not None:
                        progress(Moment(*reply[1:]))
                    reply = owner.recv()
                replies.append(reply)
            except (EOFError, ConnectionError):
                replies.append(("error", PeerDisconnected(party, "", "its process ended unexpectedly")))
        errors = [reply[1] for reply in replies if reply[0] == "error"]
        if errors:
            own = [error for error in errors if not isinstance(error, PeerError)]
            died = [error for error in errors if isinstance(error, PeerDisconnected) and not error.step]
            raise (own + died + errors)[0]
        return replies

    def run(
        self, program: Callable[..., Any], *arguments: Sequence[Any], progress: Progress | None = None
    ) -> list[PartyReport]:
        """Run a program at all three parties and collect their reports.

        With ``progress`` the program gets a keyword ``report`` to call, and party 0's calls are passed on here.
        """
        assert isinstance(program, types.FunctionType)
        name = f"{program.__module__}:{program.__qualname__}"
        for party, owner in enumerate(self.owners):
            with contextlib.suppress(OSError):  # A party that is gone is reported by the replies.
                reporting = progress is not None and party == 0
                owner.send((name, tuple(argument[party] for argument in arguments), reporting))
        return [PartyReport(*reply[1:]) for reply in self._replies(progress)]

    @property
    def alive(self) -> bool:
        """Whether all three processes run. One that ended while nothing was asked of it has hung up."""
        return self._process.poll() is None and not any(owner.poll() for owner in self.owners)

    def close(self) -> None:
        """Hang up; the parties end by themselves, or are ended after a moment."""
        for owner in self.owners:
            with contextlib.suppress(OSError):
                owner.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            _kill_group(self._process)
            self._process.wait()
        _running.discard(self._process)
        self._directory.cleanup()

    def abandon(self) -> None:
        """End the parties at once, in the middle of whatever they do."""
        _kill_group(self._process)
        self.close()

    def __enter__(self) -> PartyProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
