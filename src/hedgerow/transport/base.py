"""The one interface between protocols and the network: a round of messages between a party and its two neighbours."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import PeerTimeout
from .frame import HEADER_BYTES
from .meter import Meter

Buffer = npt.NDArray[np.generic]
PARTIES = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a party waits for another: ``seconds``, plus the time its bytes take at the slowest accepted pace."""

    seconds: float = 60.0
    slowest_bytes_per_second: float = 100_000.0

    def allowance(self, nbytes: int) -> float:
        """Seconds granted to one round in which ``nbytes`` travel on a link."""
        return self.seconds + nbytes / self.slowest_bytes_per_second


@dataclass(slots=True)
class Shape:
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

    def link(self) -> Shape:
        """Fresh shaping state for one direction of one link."""
        return Shape(self.delay, self.bandwidth)


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
        to_left: Buffer | None = None,
        to_right: Buffer | None = None,
        from_left: Buffer | None = None,
        from_right: Buffer | None = None,
    ) -> None:
        """Send to both neighbours and fill the ``from_`` arrays with what they send; one round.

        All arrays are C-contiguous. An array of no bytes is no message. Returns when everything expected has come.
        """
        start = time.monotonic()
        sends: list[tuple[int, Buffer]] = []
        takes: list[tuple[int, Buffer]] = []
        sent, received = [], 0
        for peer, outgoing, incoming in ((self.left, to_left, from_left), (self.right, to_right, from_right)):
            if outgoing is not None and outgoing.nbytes:
                sends.append((peer, outgoing))
                sent.append(outgoing.nbytes)
            if incoming is not None and incoming.nbytes:
                takes.append((peer, incoming))
                received += incoming.nbytes
        self._exchange(step, sends, takes)
        self.meter.count(step, sent, received, start, time.monotonic())

    @abstractmethod
    def _exchange(self, step: str, sends: list[tuple[int, Buffer]], takes: list[tuple[int, Buffer]]) -> None:
        """Move the messages of one round."""

    @abstractmethod
    def abort(self, culprit: int) -> None:
        """Tell both neighbours that this run is over and who is at fault, then close. Never raises."""

    @abstractmethod
    def close(self) -> None:
        """End the connections after a finished run."""
