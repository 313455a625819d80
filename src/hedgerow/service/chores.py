"""What a party does now and then, in one thread: look at its files, forget what is old, compare with the others."""

import contextlib
import ctypes
import gc
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_TICK_SECONDS = 0.5
log = logging.getLogger("hedgerow.party")


@dataclass(slots=True)
class _Chore:
    name: str
    seconds: float
    do: Callable[[], None]
    due: float


def give_memory_back() -> None:
    """What requests and jobs have used and freed goes back to the system."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Chores:
    """Functions that are called at fixed intervals. One that fails is tried again at its next turn."""

    def __init__(self) -> None:
        self._chores: list[_Chore] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chores", daemon=True)

    def add(self, name: str, seconds: float, do: Callable[[], None], first: float | None = None) -> None:
        """Call ``do`` every ``seconds`` seconds, for the first time after ``first`` seconds if that is given."""
        due = time.monotonic() + (seconds if first is None else first)
        self._chores.append(_Chore(name, seconds, do, due))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """No further turns."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        while not self._ended.wait(_TICK_SECONDS):
            for chore in self._chores:
                if time.monotonic() < chore.due:
                    continue
                try:
                    chore.do()
                except Exception as error:
                    log.error(f"a chore failed: {chore.name}", extra={"reason": type(error).__name__})
                chore.due = time.monotonic() + chore.seconds
