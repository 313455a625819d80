"""Everything a protocol needs from its surroundings: the neighbours, the shared randomness and the step's name."""

from __future__ import annotations

import hmac
from typing import Any

import numpy as np

from ..errors import HandshakeMismatch
from ..shares import Ring, Words
from ..transport.base import Parts, Transport
from .randomness import TAG_BYTES, PairKey, fresh_seed, pair_key


class Context:
    """A party's view of a run at one named step. There is no global state; narrow the step with :meth:`step`."""

    __slots__ = ("left_key", "path", "right_key", "stream", "transport")

    def __init__(self, transport: Transport, left_key: PairKey, right_key: PairKey, path: str, stream: str) -> None:
        self.transport = transport
        self.left_key = left_key
        self.right_key = right_key
        self.path = path
        self.stream = stream

    def __repr__(self) -> str:
        return f"Context(party {self.transport.party}, step '{self.path}')"

    @staticmethod
    def establish(transport: Transport, session: bytes = b"", lane: str = "main") -> Context:
        """Agree on the pair keys, confirm them (two rounds), and return the context of a lane's first step.

        Reveals: nothing. Each neighbour receives a random seed; the third party never sees it. Then each sends a tag
        made with the key they should have in common: with differing keys every later result would be garbage.
        """
        seed_left, seed_right, from_left, from_right = fresh_seed(), fresh_seed(), fresh_seed(), fresh_seed()
        from_left, from_right = from_left.copy(), from_right.copy()
        transport.exchange("keys", seed_left, seed_right, from_left, from_right)
        context = session + lane.encode()
        left_key = pair_key(bytes(seed_left), bytes(from_left), context, transport.party < transport.left)
        right_key = pair_key(bytes(seed_right), bytes(from_right), context, transport.party < transport.right)
        _confirm(transport, left_key, right_key)
        return Context(transport, left_key, right_key, lane, lane)

    def step(self, name: str) -> Context:
        """The same party at a sub-step, with streams and meter entries of its own."""
        return Context(self.transport, self.left_key, self.right_key, f"{self.path}/{name}", f"{self.stream}/{name}")

    def turn(self, name: str, number: int) -> Context:
        """One turn of a repeated sub-step: meter entries of its own, while all turns go on with the same streams.

        Opening a stream costs as much as ten draws from it, and a deep tree would keep thousands.
        """
        path, stream = f"{self.path}/{name}{number}", f"{self.stream}/{name}"
        return Context(self.transport, self.left_key, self.right_key, path, stream)

    @property
    def party(self) -> int:
        """This party's number; protocols use it only to rotate roles."""
        return self.transport.party

    def exchange(
        self, to_left: Parts = None, to_right: Parts = None, from_left: Parts = None, from_right: Parts = None
    ) -> None:
        """One round with both neighbours; see :meth:`hedgerow.transport.Transport.exchange`."""
        self.transport.exchange(self.path, to_left, to_right, from_left, from_right)

    def pass_left(self, array: Words) -> Words:
        """Send to the left, take the same amount from the right; one round."""
        incoming = np.empty_like(array)
        self.exchange(to_left=array, from_right=incoming)
        return incoming

    def with_left(self, shape: int | tuple[int, ...], dtype: Any = np.uint64) -> Words:
        """Uniform words that only this party and its left neighbour know."""
        out: Words = np.empty(shape, dtype)
        self.left_key.fill(self.stream, out)
        return out

    def with_right(self, shape: int | tuple[int, ...], dtype: Any = np.uint64) -> Words:
        """Uniform words that only this party and its right neighbour know."""
        out: Words = np.empty(shape, dtype)
        self.right_key.fill(self.stream, out)
        return out

    def zero_masks(self, ring: Ring, count: int) -> tuple[Words, Words]:
        """Two arrays whose difference is this party's summand of a sharing of zero."""
        shape = ring.shape(count)
        return ring.uniform(self.with_left(shape, ring.dtype)), ring.uniform(self.with_right(shape, ring.dtype))


def _confirm(transport: Transport, left_key: PairKey, right_key: PairKey) -> None:
    """Compare tags with both neighbours; a party's own tag never equals the one it expects."""
    party, left, right = transport.party, transport.left, transport.right
    own = [np.frombuffer(key.tag(party), np.uint8) for key in (left_key, right_key)]
    heard = [np.empty(TAG_BYTES, np.uint8) for _ in own]
    transport.exchange("keys", *own, *heard)
    for peer, key, tag in zip((left, right), (left_key, right_key), heard, strict=True):
        if not hmac.compare_digest(key.tag(peer), bytes(tag)):
            raise HandshakeMismatch(peer, "keys", "has another key for this pair; start the run again")
