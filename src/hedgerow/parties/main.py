"""Three parties on this machine: ``python -m hedgerow.parties.main <descriptor> <descriptor> <descriptor>``.

One process loads what parties need and then forks into three, so that starting them costs as much as starting one. Each
descriptor is a party's end of a socket pair to the process that started them; only that process, the owner of these
parties, exchanges pickled objects with them. Peers exchange frames of fixed layout only. No key is drawn before
the fork.
"""

import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..engine import Context
from ..errors import HedgerowError, PeerError
from ..transport import Meter, Transport, connect, listen
from . import program as _loaded_once_for_all  # noqa: F401
from .memory import peak_memory_mb, prepare_to_fork, return_memory


def resolve(name: str) -> Any:
    """The object behind ``package.module:function``."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _run_one(
    owner: Connection, transport: Transport, ctx: Context, program: str, arguments: tuple[Any, ...], reporting: bool
) -> bool:
    """Run one program and report; False when this party cannot go on."""

    def report(layer: int, step: str) -> None:
        spent = transport.meter.total()
        owner.send(("progress", layer, step, spent.rounds, spent.sent))

    options = {"report": report} if reporting else {}
    try:
        # One byte each way with both neighbours: all parties start at the same moment.
        transport.exchange("start", *np.zeros((4, 1), np.uint8))
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


def serve(descriptor: int) -> None:
    """One party: connect to the peers as told by the owner, then run programs until the owner hangs up."""
    owner = Connection(descriptor)
    server = listen(("127.0.0.1", 0))
    owner.send((os.getpid(), server.getsockname()))
    party, addresses, terms, identity, timeouts, network = owner.recv()
    try:
        transport = connect(party, server, addresses, terms, identity, timeouts, network)
        ctx = Context.establish(transport, terms.session)
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


def main(descriptors: Sequence[int]) -> None:
    """Load everything, fork into three parties, and wait until they have ended."""
    # Should Ctrl-C reach these processes after all: their owner decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_to_fork()
    for own in descriptors:
        if os.fork() == 0:
            for other in descriptors:
                if other != own:
                    os.close(other)
            # If the owner is gone, nobody can read an error.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, EOFError):
                serve(own)
            os._exit(0)
    for descriptor in descriptors:
        os.close(descriptor)
    for _ in descriptors:
        os.wait()
    # There is nothing to clean up, and an ordinary exit is slow with Numba.
    os._exit(0)


if __name__ == "__main__":
    main([int(descriptor) for descriptor in sys.argv[1:]])
