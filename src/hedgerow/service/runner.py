"""Job processes of a party: started, listened to, moved to their place when done, ended when told."""

import hashlib
import json
import logging
import shutil
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tables.private import private_write
from .gate import SESSION_BYTES, Gate
from .nursery import Nursery
from .settings import PartySettings
from .spec import digest
from .vault import Vault

log = logging.getLogger("hedgerow.jobs")

Told = Callable[[str, dict[str, Any]], None]


@dataclass(slots=True)
class _Running:
    process: int
    says: int
    control: socket.socket
    session: bytes


def session_of(job: str, spec_hash: str, attempt: int) -> bytes:
    """The session of one attempt at a job: the same at all parties that agree on all of it."""
    return hashlib.sha256(f"{job}/{spec_hash}/{attempt}".encode()).digest()[:SESSION_BYTES]


class Runner:
    """Runs up to ``max_running`` jobs. ``told`` hears ``progress``, ``done`` and ``error`` of each."""

    def __init__(self, settings: PartySettings, vault: Vault, gate: Gate, told: Told) -> None:
        self._settings, self._vault, self._gate, self._told = settings, vault, gate, told
        self._nursery = Nursery()
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether no further job can start now."""
        return len(self._running) >= self._settings.max_running

    def has(self, job: str) -> bool:
        """Whether a process of this job has not quite ended."""
        return job in self._running

    def announce(self, job: str, spec_hash: str, attempt: int, key: bytes) -> None:
        """An attempt is about to start here: callers with its ticket may come from now on."""
        self._gate.announce(session_of(job, spec_hash, attempt), key)

    def renounce(self, job: str, spec_hash: str, attempt: int) -> None:
        """The announced attempt does not start."""
        self._gate.forget(session_of(job, spec_hash, attempt))

    def start(self, job: str, spec_hash: str, attempt: int, key: bytes, facts: dict[str, Any]) -> None:
        """Start a job's process. ``facts`` goes into ``job.json``; parties that differ in any of it do not run.

        ``key`` makes the tickets with which this run's callers pass the parties' gates.
        """
        settings, directory = self._settings, self._vault.work(job)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700)
        session = session_of(job, spec_hash, attempt)
        content = facts | {
            "party": settings.number,
            "vault": str(self._vault.root),
            "session": session.hex(),
            "configuration": digest(facts),
            "patience": settings.patience_seconds,
            "addresses": [(address.host, address.party) for address in settings.consortium.parties],
            "identity": str(settings.identity.key.parent),
            "consortium": str(settings.consortium_path),
        }
        private_write(directory / "job.json", json.dumps(content).encode())
        self._gate.announce(session, key)
        ours, theirs = socket.socketpair()
        # The keys are in no file.
        secret = {"gate_key": key.hex(), "storage_keys": [one.hex() for one in settings.seal.keys]}
        told = json.dumps({"directory": str(directory)} | secret).encode() + b"\n"
        with theirs:
            running = _Running(*self._nursery.start(told, theirs), ours, session)
        with self._lock:
            self._running[job] = running
        self._gate.expect(session, ours)
        threading.Thread(target=self._listen, args=(job, running), name=f"job {job[:8]}", daemon=True).start()

    def _listen(self, job: str, running: _Running) -> None:
        """Pass on what the process tells, to its end."""
        outcome: dict[str, Any] = {"error": "the job's process ended unexpectedly"}
        try:
            with open(running.says, "rb") as says:
                for line in says:
                    try:
                        message = json.loads(line)
                    except ValueError:
                        continue
                    if "progress" in message:
                        self._told(job, message)
                    else:
                        outcome = message
        finally:
            self._nursery.stop(running.process)
            self._gate.forget(running.session)
            running.control.close()
            if "done" in outcome:
                outcome = self._put_away(job, outcome)
            shutil.rmtree(self._vault.work(job), ignore_errors=True)
            # In this order: a job that is running has a process here or an outcome to be noted.
            self._told(job, outcome)
            with self._lock:
                self._running.pop(job, None)

    def _put_away(self, job: str, outcome: dict[str, Any]) -> dict[str, Any]:
        """Move what the job made to its place."""
        work = self._vault.work(job)
        try:
            if (work / "model").exists():
                (work / "model").rename(self._vault.model(job))
            else:
                (work / "result.npz").rename(self._vault.result(job))
        except OSError as error:
            log.error("a job's result could not be kept", extra={"job": job, "reason": type(error).__name__})
            return {"error": "the result could not be written"}
        return outcome

    def stop(self, job: str) -> None:
        """End a job's process at once."""
        with self._lock:
            running = self._running.get(job)
        if running is not None:
            self._nursery.stop(running.process)

    def close(self) -> None:
        """End all jobs."""
        self._nursery.close()
