"""Three parties in one process: frames go through queues between threads."""

import queue
import time
from collections.abc import Callable

from hedgerow.errors import MalformedMessage, PeerTimeout, RunAborted
from hedgerow.transport.base import PARTIES, LinkShaping, Message, Network, Timeouts, Transport, sleep_until
from hedgerow.transport.frame import HEADER_BYTES, Header, Kind, check_data, data_header

Frame = bytes
Corrupter = Callable[[int, int, str, Frame], list[Frame]]


class MemoryNetwork:
    """The six queues between three parties. ``corrupter`` may replace any frame on its way (tests only)."""

    def __init__(self, corrupter: Corrupter | None = None) -> None:
        self.corrupter = corrupter
        self.queues: dict[tuple[int, int], queue.SimpleQueue[Frame]] = {
            (a, b): queue.SimpleQueue() for a in range(PARTIES) for b in range(PARTIES) if a != b
        }

    def put(self, sender: int, receiver: int, step: str, frame: Frame) -> None:
        """Deliver a frame, or what the corrupter makes of it."""
        frames = [frame] if self.corrupter is None else self.corrupter(sender, receiver, step, frame)
        for each in frames:
            self.queues[sender, receiver].put(each)


class MemoryTransport(Transport):
    """One party's end of a :class:`MemoryNetwork`."""

    def __init__(
        self, party: int, network: MemoryNetwork, timeouts: Timeouts | None = None, shape: Network | None = None
    ) -> None:
        super().__init__(party)
        self.network = network
        self.timeouts = timeouts or Timeouts()
        self.sent = dict.fromkeys((self.left, self.right), 0)
        self.taken = dict.fromkeys((self.left, self.right), 0)
        self.shapes: dict[int, LinkShaping] = {p: shape.link() for p in (self.left, self.right)} if shape else {}

    def _exchange(self, step: str, sends: list[tuple[int, Message]], takes: list[tuple[int, Message]]) -> None:
        for peer, message in sends:
            arrival = self.shapes[peer].arrival(message.nbytes) if peer in self.shapes else 0.0
            header = data_header(self.party, step, self.sent[peer], message.nbytes, arrival)
            self.sent[peer] += 1
            self.network.put(self.party, peer, step, b"".join([header, *message.pieces]))
        for peer, message in takes:
            self._take(peer, step, message)

    def _take(self, peer: int, step: str, message: Message) -> None:
        deadline = time.monotonic() + self.timeouts.allowance(message.nbytes)
        blamed = peer
        while True:
            try:
                frame = self.network.queues[peer, self.party].get(timeout=self.timeouts.seconds / 8)
            except queue.Empty:
                if time.monotonic() > deadline:
                    problem = f"sent nothing for {self.timeouts.seconds:g} s"
                    raise PeerTimeout(blamed, step, problem) from None
                waiting = Header(Kind.WAITING, peer, 0, 0, 0)
                self.network.queues[self.party, 3 - self.party - peer].put(waiting.pack())
                continue
            if len(frame) < HEADER_BYTES:
                raise MalformedMessage(peer, step, "sent a truncated frame")
            header = Header.unpack(frame[:HEADER_BYTES], peer, step)
            if header.kind is Kind.ABORT:
                raise RunAborted(header.about, step, f"stopped the run (reported by party {peer})")
            if header.kind is Kind.WAITING:
                blamed = peer if header.about == self.party else header.about
                continue
            check_data(header, peer, step, self.taken[peer], message.nbytes)
            if len(frame) != HEADER_BYTES + header.length:
                raise MalformedMessage(peer, step, "sent a frame whose payload is not as long as it says")
            self.taken[peer] += 1
            message.fill(memoryview(frame)[HEADER_BYTES:])
            if self.shapes:
                sleep_until(header.not_before, peer, step, self.timeouts.allowance(message.nbytes))
            return

    def abort(self, culprit: int) -> None:
        """Tell both neighbours who is at fault."""
        for peer in (self.left, self.right):
            header = Header(Kind.ABORT, culprit, 0, self.sent[peer], 0)
            self.network.queues[self.party, peer].put(header.pack())

    def close(self) -> None:
        """Nothing to close."""
