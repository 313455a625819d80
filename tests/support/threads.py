"""Three parties in one process: threads over an in-memory network."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from hedgerow.engine import Context
from hedgerow.errors import PeerError, RunAborted
from hedgerow.transport import Network, Timeouts, Transport
from support.memory import MemoryNetwork, MemoryTransport

Program = Callable[..., Any]


def run_parties(transports: Sequence[Transport], program: Program, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run ``program(ctx, *arguments[party])`` at every party at the same time; returns the three results.

    If parties fail, all threads end first; then the error of a party that is not merely reporting another's is raised.
    """
    results: list[Any] = [None] * 3
    errors: list[BaseException | None] = [None] * 3

    def work(party: int) -> None:
        transport = transports[party]
        try:
            results[party] = program(Context.establish(transport), *arguments[party])
        except PeerError as error:
            errors[party] = error
            transport.abort(error.peer)
        except BaseException as error:
            errors[party] = error
            transport.abort(party)

    threads = [threading.Thread(target=work, args=(party,), daemon=True) for party in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = [error for error in errors if error is not None]
    if failed:
        raise min(failed, key=_hearsay)
    return results


def _hearsay(error: BaseException) -> int:
    """How indirectly an error tells of its cause: our own, seen at a peer, heard from a peer."""
    return 2 if isinstance(error, RunAborted) else 1 if isinstance(error, PeerError) else 0


class ThreadParties:
    """Runs programs at three in-process parties and keeps their transports for inspection."""

    def __init__(
        self, network: MemoryNetwork | None = None, timeouts: Timeouts | None = None, shape: Network | None = None
    ) -> None:
        network = network or MemoryNetwork()
        self.transports = [MemoryTransport(party, network, timeouts, shape) for party in range(3)]

    def run(self, program: Program, *arguments: Sequence[Any]) -> list[Any]:
        """Each argument is a sequence of three: one entry for each party."""
        per_party = [tuple(argument[party] for argument in arguments) for party in range(3)]
        return run_parties(self.transports, program, per_party)
