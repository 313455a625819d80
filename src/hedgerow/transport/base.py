"""The one interface between protocols and the network: a round of messages between a party and its two neighbours."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import PeerTimeout
from .frame import HEADER_BYTES
from .meter import Meter

Buffer = npt.NDArray[np.generic]
Parts = Buffer | Sequence[Buffer] | None
"""One array, or several that travel as one message, or nothing."""
PARTIES = 3


class Message:
    """The bytes of one or several C-contiguous arrays, one after the other, without copying them together."""

    __slots__ = ("nbytes", "pieces")

    def __init__(self, parts: Parts) -> None:
        arrays = () if parts is None else (parts,) if isinstance(parts, np.ndarray) else parts
        self.pieces = [array.data.cast("B") for array in arrays if array.nbytes]
        self.nbytes = sum([piece.nbytes for piece in self.pieces])

    def fill(self, content: bytes | memoryview) -> None:
        """Write a received message into the arrays."""
        start = 0
        for piece in self.pieces:
            piece[:] = content[start : start + piece.nbytes]
            start += piece.nbytes


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a party waits for another: ``seconds``, plus the time its bytes take at the slowest accepted pace."""

    seconds: float = 60.0
    slowest_bytes_per_second: float = 100_000.0

    def allowance(self, nbytes: int) -> float:
        """Seconds granted to one round in which ``nbytes`` travel on a link."""
        return self.seconds + nbytes / self.slowest_bytes_per_second


@dataclass(slots=True)
class LinkShaping:
    """A link's one-way delay in seconds and bandwidth in bytes per second, for measuring other networks here.

    The sender computes when its message would have arrived and writes that moment into the header; the receiver does
    not look at the message before it. Both share this machine's monotonic clock.
    """

    delay: float
    bandwidth: float
    free_at: float = 0.0

    def arrival(self, nbytes: int) -> float:
        """When a message of ``nbytes`` handed over now is complete at the other end."""
        self.free_at = max(time.monotonic(), self.free_at) + (nbytes + HEADER_BYTES) / self.bandwidth
        return self.free_at + self.delay


@dataclass(frozen=True, slots=True)
class Network:
    """Delay and bandwidth of every link; ``None`` where the machine's own loopback is measured as it is."""

    delay: float
    bandwidth: float

    def link(self) -> LinkShaping:
        """Fresh shaping state for one direction of one link."""
        return LinkShaping(self.delay, self.bandwidth)


NETWORKS: dict[str, Network | None] = {
    "loopback": None,
    "lan": Network(delay=0.0001, bandwidth=1.25e9),
    "wan": Network(delay=0.020, bandwidth=5e6),
}


def sleep_until(moment: float, peer: int, step: str, allowance: float) -> None:
    """Wait for a shaped message's arrival; a moment beyond the time-out means the peer is late."""
    remaining = moment - time.monotonic()
    if remaining > allowance:
        raise PeerTimeout(peer, step, "dated a message beyond the time-out")
    if remaining > 0:
        time.sleep(remaining)


class Transport(ABC):
    """Moves one round of messages at a time and meters it. ``left`` is party - 1, ``right`` is party + 1 (mod 3)."""

    def __init__(self, party: int) -> None:
        self.party = party
        self.left = (party - 1) % PARTIES
        self.right = (party + 1) % PARTIES
        self.meter = Meter()

    def exchange(
        self,
        step: str,
        to_left: Parts = None,
        to_right: Parts = None,
        from_left: Parts = None,
        from_right: Parts = None,
    ) -> None:
        """Send to both neighbours and fill the ``from_`` arrays with what they send; one round.

        All arrays are C-contiguous. A message of no bytes is not sent. Returns when everything expected has arrived.
        """
        start = time.monotonic()
        sends: list[tuple[int, Message]] = []
        takes: list[tuple[int, Message]] = []
        sent, received = [], 0
        for peer, to, source in ((self.left, to_left, from_left), (self.right, to_right, from_right)):
            if to is not None:
                outgoing = Message(to)
                if outgoing.nbytes:
                    sends.append((peer, outgoing))
                    sent.append(outgoing.nbytes)
            if source is not None:
                incoming = Message(source)
                if incoming.nbytes:
                    takes.append((peer, incoming))
                    received += incoming.nbytes
        self._exchange(step, sends, takes)
        self.meter.count(step, sent, received, start, time.monotonic())

    @abstractmethod
    def _exchange(self, step: str, sends: list[tuple[int, Message]], takes: list[tuple[int, Message]]) -> None:
        """Move the messages of one round."""

    @abstractmethod
    def abort(self, culprit: int) -> None:
        """Tell both neighbours that this run is over and who is at fault, then close. Never raises."""

    @abstractmethod
    def close(self) -> None:
        """End the connections after a finished run."""
