"""A real PostgreSQL server for tests, under another user than root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from support.deployment import free_port

HOST = "127.0.0.1"


def binaries() -> Path | None:
    """Where PostgreSQL's programs lie, if they do."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    return next((place for place in places if (place / "initdb").exists()), Path(found).parent if found else None)


class Postgres:
    """A server with a database of its own for every party."""

    def __init__(self) -> None:
        self.bin = binaries()
        assert self.bin is not None
        self.root = Path(tempfile.mkdtemp(prefix="hedgerow-postgres-"))
        self.port = free_port(HOST)
        # PostgreSQL refuses to run as root.
        self._as = {"user": pwd.getpwnam("nobody").pw_uid} if os.getuid() == 0 else {}
        if self._as:
            os.chown(self.root, self._as["user"], -1)
        options = ["-D", str(self.root / "data"), "-U", "hedgerow", "--auth=trust", "--no-sync"]
        self._run("initdb", *options)
        self.start()
        for party in range(3):
            self._run("createdb", "-h", HOST, "-p", str(self.port), "-U", "hedgerow", f"party{party}")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/", **self._as)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        settings = f"-h {HOST} -p {self.port} -k {self.root}"
        self._run("pg_ctl", "-D", str(self.root / "data"), "-l", str(self.root / "log"), "-w", "-o", settings, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.root / "data"), "-m", mode, "-w", "stop")

    def restart_after(self, seconds: float) -> None:
        self.stop("immediate")
        time.sleep(seconds)
        self.start()

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.root, ignore_errors=True)

    def url(self, party: object) -> str:
        return f"postgresql+psycopg://hedgerow@{HOST}:{self.port}/party{party}"
