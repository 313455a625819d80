"""Recording what a party sends and sees, for tests of obliviousness and uniformity."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.transport.base import Message, Transport


@dataclass(frozen=True, slots=True)
class Entry:
    """One message a party took part in: the step, the neighbour, its length, and the bytes if it was received."""

    step: str
    peer: int
    sent: bool
    length: int
    content: bytes


class RecordingTransport(Transport):
    """Passes everything on to another transport and keeps a transcript."""

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner.party)
        self.inner = inner
        self.entries: list[Entry] = []

    def _exchange(self, step: str, sends: list[tuple[int, Message]], takes: list[tuple[int, Message]]) -> None:
        self.inner._exchange(step, sends, takes)
        self.entries += [Entry(step, peer, True, a.nbytes, b"") for peer, a in sends]
        self.entries += [Entry(step, peer, False, a.nbytes, b"".join(a.pieces)) for peer, a in takes]

    def shape(self) -> list[tuple[str, int, bool, int]]:
        """The transcript without content: what an observer of traffic sees."""
        return [(e.step, e.peer, e.sent, e.length) for e in self.entries]

    def abort(self, culprit: int) -> None:
        """Pass on."""
        self.inner.abort(culprit)

    def close(self) -> None:
        """Pass on."""
        self.inner.close()
