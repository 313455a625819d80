"""How kernels are compiled: once, into a cache on disk, by one process at a time.

The cache directory is named after the kernels' sources, the Numba version and the processor, so a change of any of
them compiles anew and never loads stale code. A file lock makes the other processes wait for the first one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba


def kernel(*signatures: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a module-level function for the given signatures: no GIL, cached on disk."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher: Callable[..., Any] = numba.njit(list(signatures), nogil=True, cache=True)(function)
        return dispatcher

    return compiled


def elementwise(signature: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a module-level function of items into one of arrays, with NumPy's broadcasting."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        ufunc: Callable[..., Any] = numba.vectorize([signature], nopython=True, cache=True)(function)
        return ufunc

    return compiled


def cache_directory() -> Path:
    """Where the machine code of exactly these sources lives (``HEDGEROW_CACHE_DIR`` moves it)."""
    base = os.environ.get("HEDGEROW_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"{source}{source.stat().st_mtime_ns}".encode() + source.read_bytes())
    digest.update(f"{numba.__version__}{platform.python_version()}{llvmlite.binding.get_host_cpu_name()}".encode())
    return Path(base) / "hedgerow" / f"kernels-{digest.hexdigest()[:16]}"


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Import the kernel modules inside this block: it holds the lock, sets the cache and tells the user."""
    directory = cache_directory()
    directory.mkdir(parents=True, exist_ok=True)
    complete = directory / "complete"
    previous = numba.config.CACHE_DIR
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cold = not complete.exists()
        if cold:
            _tell("compiling kernels (first run only) ...")
        started = time.perf_counter()
        numba.config.CACHE_DIR = str(directory)
        try:
            yield
        finally:
            numba.config.CACHE_DIR = previous
        if cold:
            complete.touch()
            _tell(f"compiled kernels in {time.perf_counter() - started:.0f} s")


def _tell(line: str) -> None:
    """A line for people, or for a log of JSON lines (``HEDGEROW_LOG=json``, which a party's service sets)."""
    if os.environ.get("HEDGEROW_LOG") == "json":
        line = json.dumps({"level": "info", "logger": "hedgerow.kernels", "message": line})
    print(line, file=sys.stderr, flush=True)
