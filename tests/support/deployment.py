"""Three real party services on three loopback addresses, for the service's tests."""

from __future__ import annotations

import contextlib
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.service.client import Client
from hedgerow.service.consortium import Address, Consortium, init_consortium
from hedgerow.tables import Column, Schema, Table

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
RULES = """
[[rule]]
who = "alice"
action = "train"
datasets = ["*"]
max_rows = 5000
max_height = 10

[[rule]]
who = "alice"
action = "predict"
datasets = ["*"]

[[rule]]
who = "alice"
action = "evaluate"
datasets = ["*"]

[[rule]]
who = "alice"
action = "reveal"
datasets = ["*"]

[[rule]]
who = "bob"
action = "train"
datasets = ["*"]
approval = true
"""
MEMBERS = {
    "clinic": ("owner",),
    "bank": ("owner",),
    "alice": ("analyst",),
    "bob": ("analyst",),
    "mallory": ("analyst",),
}
SCHEMA = Schema(
    (Column("age", bits=7), Column("dose", decimals=1, bits=9), Column("ill", "label", classes=("no", "yes")))
)


GIVEN: set[int] = set()


def free_port(host: str) -> int:
    """A port nobody uses, outside the range from which the system gives ports to callers: those may be gone a moment
    later. None is given twice."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        if port not in GIVEN:
            with contextlib.suppress(OSError), socket.create_server((host, port)):
                GIVEN.add(port)
                return port


def patients(rows: int, seed: int) -> Table:
    generator = np.random.default_rng(seed)
    age, dose = generator.integers(20, 90, rows), generator.integers(0, 400, rows) / 10
    ill = np.where((age > 50) ^ (dose > 20) ^ (generator.random(rows) < 0.1), "yes", "no").astype(object)
    return Table(["age", "dose", "ill"], [age, dose, ill], {}, lambda row: row + 1)


OPEN = """
[disclosure]
min_rows = 1
min_samples_leaf = 1
max_height = 62
min_evaluation_rows = 1
predictions_per_day = 1000000000
min_count = 1
"""
"""Rules of disclosure that allow everything, for tests of other things."""


class Deployment:
    """A consortium in a directory; parties can be killed and started again."""

    def __init__(
        self,
        root: Path,
        patience: float = 6.0,
        max_running: int = 2,
        rules: str = RULES,
        disclosure: str = OPEN,
        more: str = "",
    ) -> None:
        self.root = root
        addresses = [Address(host, free_port(host), free_port(host)) for host in HOSTS]
        self.consortium = Consortium("test", tuple(addresses), MEMBERS)
        init_consortium(self.consortium, root, 90)
        for party in range(3):
            text = f'number = {party}\nidentity = "."\ndata = "data"\nmax_running = {max_running}\n'
            text += (
                f'patience_seconds = {patience}\ncountersign_seconds = 2\nstorage_key = {{ file = "storage.key" }}\n'
            )
            text += more.replace("{party}", str(party)) + "\n" + disclosure + rules
            (root / f"party{party}" / "party.toml").write_text(text)
        self.processes: list[subprocess.Popen[bytes] | None] = [None] * 3

    def start(self, *parties: int, wrapped: Sequence[str] = ()) -> None:
        """Start some parties, or all; ``wrapped`` is a command to run them under."""
        for party in parties or (0, 1, 2):
            directory = self.root / f"party{party}"
            command = [*wrapped, sys.executable, "-m", "hedgerow", "party", "serve"]
            with (directory / "log.jsonl").open("ab") as log:
                self.processes[party] = subprocess.Popen(
                    [*command, "--config", str(directory / "party.toml")], stderr=log, stdout=log
                )
        for party in parties or (0, 1, 2):
            self._wait(party)

    def _wait(self, party: int) -> None:
        deadline = time.monotonic() + 60
        client = self.client("alice")
        while True:
            try:
                client._parties.call(party, "GET", "/v1/health")
                client.close()
                return
            except HedgerowError:
                if time.monotonic() > deadline or self.processes[party].poll() is not None:
                    raise AssertionError((self.root / f"party{party}" / "log.jsonl").read_text()[-3000:]) from None
                time.sleep(0.1)

    def kill(self, party: int) -> None:
        self.processes[party].kill()
        self.processes[party].wait()

    def stop(self) -> list[int]:
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.terminate()
        return [process.wait(30) if process is not None else 0 for process in self.processes]

    def client(self, name: str) -> Client:
        directory = self.root / "members" / name
        return Client(directory / "consortium.toml")
