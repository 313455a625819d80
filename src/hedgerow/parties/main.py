"""One party as a process of its own: ``python -m hedgerow.parties.main <descriptor>``.

The descriptor is the child's end of a socket pair to the process that started it; only that process, the owner of this
party, is spoken to with pickled objects. Peers are spoken to with frames of fixed layout only.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import resource
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from ..engine import Context
from ..errors import HedgerowError, PeerError
from ..transport import Meter, Transport, connect, listen

KEPT_BETWEEN_RUNS = 1 << 30
"""Bytes above which a party does not hold on to memory between runs."""


def resolve(name: str) -> Any:
    """The object behind ``package.module:function``."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def peak_memory_mb() -> float:
    """The largest resident size this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the system.

    Protocols allocate and free the same large arrays again and again; fresh pages for each cost a third of a sort, and
    of every layer of a large table. Blocks above 32 MB are reused only if none is mapped on its own. To be called
    before there are other threads.
    """
    trim_threshold, top_pad, most_mapped = -1, -2, -4
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(most_mapped, 0)
        libc.mallopt(trim_threshold, -1)
        libc.mallopt(top_pad, 64 << 20)


def return_memory() -> None:
    """Give freed memory back after a run that took much of it; a small run's is kept for the next one."""
    with contextlib.suppress(OSError, AttributeError):
        if resident_memory() > KEPT_BETWEEN_RUNS:
            gc.collect()
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def resident_memory() -> int:
    """Bytes of memory this process has now, as Linux counts them."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _run_one(
    owner: Connection,
    transport: Transport,
    ctx: Context,
    program: str,
    arguments: tuple[Any, ...],
    reporting: bool,
) -> bool:
    """Run one program and report; False when this party cannot go on."""

    def report(layer: int, step: str) -> None:
        spent = transport.meter.total()
        owner.send(("progress", layer, step, spent.rounds, spent.sent))

    options = {"report": report} if reporting else {}
    try:
        transport.exchange("start", *_token())
        transport.meter = Meter(last_end=time.monotonic())
        started, used = time.perf_counter(), time.process_time()
        result = resolve(program)(ctx, *arguments, **options)
    except HedgerowError as error:
        transport.abort(error.peer if isinstance(error, PeerError) else transport.party)
        owner.send(("error", error))
        return False
    except Exception as error:
        transport.abort(transport.party)
        owner.send(("error", error))
        return False
    seconds, used = time.perf_counter() - started, time.process_time() - used
    owner.send(("done", result, seconds, used, transport.meter, peak_memory_mb()))
    return True


def _token() -> list[Any]:
    """One byte each way with both neighbours, so that all parties start a program at the same moment."""
    return [np.zeros(1, np.uint8) for _ in range(4)]


def main(descriptor: int) -> None:
    """Connect to the peers as told by the owner, then run programs until the owner hangs up."""
    # Should Ctrl-C reach this process after all: its owner decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    owner = Connection(descriptor)
    server = listen(("127.0.0.1", 0))
    owner.send(server.getsockname())
    party, addresses, agreement, identity, patience, network = owner.recv()
    try:
        transport = connect(party, server, addresses, agreement, identity, patience, network)
        ctx = Context.establish(transport, agreement.session)
    except HedgerowError as error:
        owner.send(("error", error))
        return
    owner.send(("ready",))
    while True:
        try:
            program, arguments, reporting = owner.recv()
        except EOFError:
            transport.close()
            return
        if not _run_one(owner, transport, ctx, program, arguments, reporting):
            return
        del arguments
        return_memory()


if __name__ == "__main__":
    # An owner that is gone has no use for words.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, EOFError):
        main(int(sys.argv[1]))
