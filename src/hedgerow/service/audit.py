"""An append-only log of who did what at a party; every line carries the hash of the line before."""

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import HedgerowError
from .clock import now

START = "0" * 64
LONGEST, MOST_ITEMS = 200, 100
"""Characters of a logged text, and items of a logged list."""


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hashes of a log's lines, in their order."""

    lines: list[bytes]

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def last(self) -> str:
        """The last line's hash."""
        return self.lines[-1].hex() if self.lines else START

    def head(self, count: int) -> str:
        """What stands for the first ``count`` lines: whoever knows it can be shown what came later, line by line,
        without what the lines say."""
        return extended(START, self.lines[:count])


def extended(head: str, lines: Iterable[bytes]) -> str:
    """The head after further lines."""
    found = bytes.fromhex(head)
    for line in lines:
        found = hashlib.sha256(found + line).digest()
    return found.hex()


class AuditLog:
    """The log file. Lines are JSON objects; ``hash`` is the SHA-256 of the rest, ``before`` the last hash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._cut_torn_line()
        self._hashes = verify(path)
        self._late: deque[tuple[str, str, dict[str, Any]]] = deque()

    def _cut_torn_line(self) -> None:
        """A line that a crash left unfinished was never acknowledged; it is cut off."""
        if not self._path.exists():
            return
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            with self._path.open("r+b") as file:
                file.truncate(len(whole))

    @property
    def hashes(self) -> Hashes:
        """The hashes of all lines so far."""
        with self._lock:
            return Hashes(self._hashes.lines[:])

    def append_later(self, actor: str, action: str, **facts: Any) -> None:
        """Write one line as :meth:`append` does; where the disk is full it is kept, and written before the next."""
        self._late.append((actor, action, facts))
        with contextlib.suppress(OSError):
            self._write_late()

    def append(self, actor: str, action: str, **facts: Any) -> None:
        """Write one line and wait until it is on disk."""
        with self._lock:
            self._write_late()
            self._write(actor, action, facts)

    def _write_late(self) -> None:
        with self._lock:
            while self._late:
                self._write(*self._late[0])
                self._late.popleft()

    def _write(self, actor: str, action: str, facts: dict[str, Any]) -> None:
        with self._lock:
            kept = {name: _shortened(value) for name, value in facts.items()}
            entry = {"time": now().isoformat(), "actor": actor, "action": action, **kept, "before": self._hashes.last}
            entry["hash"] = _hash(entry)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                whole = file.tell()
                try:
                    # In ASCII, so that a line of JSON is one line for every reader.
                    file.write(json.dumps(entry).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.truncate(self._path, whole)
                    raise
            self._hashes.lines.append(bytes.fromhex(entry["hash"]))


def _shortened(value: Any) -> Any:
    """A fact as it is logged: texts and lists of bounded length, and nothing that is no text."""
    if isinstance(value, str):
        return value[:LONGEST].encode("utf-8", "replace").decode()
    return [_shortened(item) for item in value[:MOST_ITEMS]] if isinstance(value, list) else value


def _hash(entry: dict[str, Any]) -> str:
    plain = {name: value for name, value in entry.items() if name != "hash"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def verify(path: Path) -> Hashes:
    """Check the whole chain; returns the hashes of its lines, or says which line was changed."""
    found = Hashes([])
    content = path.read_bytes() if path.exists() else b""
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    # Only LF ends a line: names may hold characters that Python's splitlines() takes for one.
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            intact = entry["before"] == found.last and entry["hash"] == _hash(entry)
        except (ValueError, KeyError, TypeError):
            intact = False
        if not intact:
            raise HedgerowError(f"the audit log {path} was changed at line {number}")
        found.lines.append(bytes.fromhex(entry["hash"]))
    return found


def check_contains(path: Path, hashes: Hashes, count: int, head: str, whose: str) -> None:
    """Whether a log contains what somebody has seen of it."""
    if count > len(hashes):
        raise HedgerowError(f"the audit log {path} was cut: it has {len(hashes)} lines, and {whose} has seen {count}")
    if hashes.head(count) != head:
        raise HedgerowError(f"the audit log {path} was written anew: the first {count} lines are not what {whose} saw")
