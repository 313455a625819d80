"""Opening values. Only functions named ``reveal…`` do, and every use is argued for in docs/threat-model.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .context import Context
from .ring import Words
from .share import ArithmeticShare, BinaryShare


def reveal(ctx: Context, x: ArithmeticShare) -> Words:
    """Open a vector to all three parties.

    Cost: 1 round, one element per item and party.
    Reveals: exactly x: each party receives the one summand it lacks, which x and its own summands determine.
    """
    missing = ctx.pass_right(np.ascontiguousarray(x.left))
    return x.ring.add(x.ring.add(x.left, x.right), missing)


def reveal_bits(ctx: Context, x: BinaryShare) -> Words:
    """Open packed bit rows to all three parties; see :func:`reveal`. Cost: 1 round, one word per 64 items and row."""
    told = x.left.copy()
    # Bits past the last item have no meaning, and nobody is to see them.
    clear_padding(told, x.count)
    missing = ctx.pass_right(told)
    opened: Words = x.left ^ x.right ^ missing
    clear_padding(opened, x.count)
    return opened


def clear_padding(rows: Words, count: int) -> None:
    """Set the bits past item ``count`` of packed rows to 0, in place."""
    if count % 64 and rows.shape[1]:
        rows[:, -1] &= np.uint64((1 << count % 64) - 1)


def reveal_to(ctx: Context, x: ArithmeticShare, receiver: int) -> Words | None:
    """Open a vector to one party only; the others get ``None``.

    Cost: 1 round, one element per item, sent by the receiver's left neighbour.
    Reveals: exactly x, to the receiver.
    """
    if ctx.party == receiver:
        missing = x.ring.empty(len(x))
        ctx.exchange(from_left=missing)
        return x.ring.add(x.ring.add(x.left, x.right), missing)
    ctx.exchange(to_right=np.ascontiguousarray(x.left) if ctx.transport.right == receiver else None)
    return None


def reconstruct(shares: Sequence[ArithmeticShare]) -> Words:
    """What an outside receiver does with the three parties' shares of a result. Raises if they contradict."""
    ring = shares[0].ring
    for i in range(3):
        if not np.array_equal(shares[i].right, shares[(i + 1) % 3].left):
            raise ValueError("the three shares do not belong together; ask the parties for the result again")
    return ring.add(ring.add(shares[0].left, shares[1].left), shares[2].left)


def unpack_bits(packed: Words, count: int) -> npt.NDArray[Any]:
    """Packed bit rows as a ``uint8`` array of rows of ``count`` bits."""
    raw = np.ascontiguousarray(packed).view(np.uint8)
    return np.unpackbits(raw, axis=-1, bitorder="little")[..., :count]


def reconstruct_bits(shares: Sequence[BinaryShare]) -> npt.NDArray[Any]:
    """The bit rows behind three parties' binary shares."""
    for i in range(3):
        if not np.array_equal(shares[i].right, shares[(i + 1) % 3].left):
            raise ValueError("the three shares do not belong together; ask the parties for the result again")
    return unpack_bits(shares[0].left ^ shares[1].left ^ shares[2].left, shares[0].count)
