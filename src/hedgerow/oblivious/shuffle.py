"""Secret shuffles: a permutation that is the product of three, of which every party knows two.

Three roles, called after their place in the chain: *first*, *second*, *third*. The pair (first, second) applies the
permutation it shares, then (second, third), then (third, first); the vector hops between the pairs in two-summand form,
masked by the key of the pair that hands it on. Undoing a shuffle is the same chain the other way round, so all code
here speaks of the neighbour *ahead* and the one *behind*: right and left when shuffling, left and right when undoing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import HedgerowError
from ..kernels import permute
from ..primitives import Cost
from ..primitives.cost import FREE
from ..sharing import ArithmeticShare, ByteShare, Context
from ..sharing.ring import Words

Column = ArithmeticShare | ByteShare
SPARE_WORDS = 4
"""Words drawn beyond one an item, to replace those that would bias a permutation."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Shuffle:
    """The two permutations this party knows, as gather orders, and who plays the first role."""

    with_left: Words
    with_right: Words
    first: int

    def __len__(self) -> int:
        return len(self.with_left)

    def __repr__(self) -> str:
        return f"Shuffle({len(self)} items)"


def draw_shuffle(ctx: Context, count: int, first: int = 0) -> Shuffle:
    """A fresh uniform shuffle of ``count`` items; local, from the pair keys. ``first`` rotates the roles."""
    orders = []
    for words in (ctx.with_left(count + SPARE_WORDS), ctx.with_right(count + SPARE_WORDS)):
        order = np.empty(count, np.uint32)
        if not permute.draw_permutation(words, order):
            raise RuntimeError("the random stream of a shuffle has less than one chance in 2^100 to look like this")
        orders.append(order)
    return Shuffle(orders[0], orders[1], first % 3)


class _Chain:
    """This party's place in the chain of one shuffle: role, orders and summands as seen ahead and behind."""

    def __init__(self, ctx: Context, shuffle: Shuffle, undo: bool) -> None:
        self.ctx = ctx
        self.undo = undo
        self.role = (shuffle.first - ctx.party if undo else ctx.party - shuffle.first) % 3
        left, right = shuffle.with_left, shuffle.with_right
        if undo:
            left, right = inverse(left), inverse(right)
        self.order_ahead, self.order_behind = (left, right) if undo else (right, left)

    def mask_ahead(self, column: Column) -> Words:
        """The next mask shared with the neighbour ahead."""
        draw = self.ctx.with_left if self.undo else self.ctx.with_right
        return draw(column.left.shape, column.left.dtype)

    def mask_behind(self, column: Column) -> Words:
        """The next mask shared with the neighbour behind."""
        draw = self.ctx.with_right if self.undo else self.ctx.with_left
        return draw(column.left.shape, column.left.dtype)

    def behind(self, column: Column) -> Words:
        """The summand the neighbour behind holds too."""
        return np.ascontiguousarray(column.right if self.undo else column.left)

    def share(self, column: Column, ahead: Words, behind: Words) -> Column:
        """A result of the column's kind from its two summands."""
        left, right = (ahead, behind) if self.undo else (behind, ahead)
        return (
            ArithmeticShare(left, right, column.ring) if isinstance(column, ArithmeticShare) else ByteShare(left, right)
        )


def inverse(order: Words) -> Words:
    """The inverse of a public permutation; anything else that peers made us open ends the run."""
    out = np.empty_like(order)
    if not permute.invert_permutation(np.ascontiguousarray(order), out):
        raise HedgerowError("the opened places are no permutation: a party deviated, or the input was none")
    return out


def _gather(column: Column, x: Words, order: Words, mask: Words, negative: bool) -> Words:
    """``x[order]`` plus or minus a mask, in the column's algebra."""
    out = np.empty_like(mask)
    if isinstance(column, ByteShare):
        permute.gather_flipped(x, order, mask, out)
    elif column.ring.bits == 128:
        permute.gather_masked_words(x, order, mask, negative, out)
    else:
        permute.gather_masked(x, order, mask, negative, out)
    return out


def _plus(column: Column, a: Words, b: Words) -> Words:
    out: Words = column.ring.add(a, b) if isinstance(column, ArithmeticShare) else a ^ b
    return out


def _minus(column: Column, a: Words, b: Words) -> Words:
    out: Words = column.ring.subtract(a, b) if isinstance(column, ArithmeticShare) else a ^ b
    return out


@dataclass(frozen=True, slots=True)
class Load:
    """Columns that move under one shuffle. ``opened`` lists those that come out public instead of shared."""

    shuffle: Shuffle
    columns: Sequence[Column]
    opened: Sequence[int] = ()


def shuffle_loads(ctx: Context, loads: Sequence[Load], undo: bool = False) -> list[list[Any]]:
    """Move every load under its shuffle, or back with ``undo``, all in the same two rounds.

    Result columns are shares, or public arrays where the load says ``opened``: a permutation may be, once.

    Paper: CHI+19/AHIKNPT22 style resharing, with both hops of the first round sent at once. Cost: :func:`shuffle_cost`.
    Reveals: the opened columns, nothing else. Every message is masked: in round 1 by the key of the sending pair, in
    round 2 by a summand of the result (shared columns) or by the key of first and third (opened columns).
    """
    if any(len(column) != len(load.shuffle) for load in loads for column in load.columns):
        raise ValueError(f"all columns need as many items as their shuffle; got {list(loads)!r}")
    chains = [_Chain(ctx, load.shuffle, undo) for load in loads]
    send: list[Words] = []
    take: list[Words] = []
    held: list[tuple[Words, Words] | None] = []
    for chain, load in zip(chains, loads, strict=True):
        for column in load.columns:
            if chain.role == 0:
                mask = chain.mask_ahead(column)
                send.append(_gather(column, chain.behind(column), chain.order_ahead, mask, True))
            elif chain.role == 1:
                first, second = chain.mask_behind(column), chain.mask_ahead(column)
                both = _plus(column, column.left, column.right)
                moved = _gather(column, both, chain.order_behind, first, False)
                send.append(_gather(column, moved, chain.order_ahead, second, True))
            if chain.role == 1:
                held.append(None)
                continue
            take.append(np.empty_like(column.left))
            held.append((take[-1], chain.mask_behind(column) if chain.role == 2 else _nothing(column)))
    _swap(ctx, undo, behind=send, from_ahead=take)
    return _finish(ctx, loads, chains, held, undo)


def _finish(
    ctx: Context,
    loads: Sequence[Load],
    chains: Sequence[_Chain],
    held: Sequence[tuple[Words, Words] | None],
    undo: bool,
) -> list[list[Any]]:
    """Round 2: first and third turn their two summands into the result."""
    behind: list[Words] = []
    ahead: list[Words] = []
    from_behind: list[Words] = []
    from_ahead: list[Words] = []
    results: list[list[Any]] = []
    pending: list[tuple[list[Any], int, Column, _Chain, Words, Words, Words | None]] = []
    position = 0
    for chain, load in zip(chains, loads, strict=True):
        out: list[Any] = [None] * len(load.columns)
        results.append(out)
        for index, column in enumerate(load.columns):
            opened = index in load.opened
            arrived = held[position]
            position += 1
            if chain.role == 0 and arrived is not None:
                mine = _gather(column, arrived[0], chain.order_behind, arrived[1], False)
                mask = chain.mask_behind(column) if opened else chain.mask_ahead(column)
                half = _minus(column, mine, mask)
                behind.append(half)
                other = np.empty_like(half)
                from_behind.append(other)
                if opened:
                    ahead.append(half)
                pending.append((out, index, column, chain, half, other, None if opened else mask))
            elif arrived is None:
                if opened:
                    half, other = np.empty_like(column.left), np.empty_like(column.left)
                    from_behind.append(half)
                    from_ahead.append(other)
                    pending.append((out, index, column, chain, half, other, None))
                else:
                    near, far = chain.mask_behind(column), chain.mask_ahead(column)
                    out[index] = chain.share(column, ahead=far, behind=near)
            else:
                moved = _gather(column, arrived[0], chain.order_behind, arrived[1], False)
                moved = _gather(column, moved, chain.order_ahead, _nothing(column), False)
                if opened:
                    mask = chain.mask_ahead(column)
                    half = _plus(column, moved, mask)
                    behind.append(half)
                else:
                    mask = chain.mask_behind(column)
                    half = _minus(column, moved, mask)
                ahead.append(half)
                other = np.empty_like(half)
                from_ahead.append(other)
                pending.append((out, index, column, chain, half, other, None if opened else mask))
    _swap(ctx, undo, behind=behind, ahead=ahead, from_behind=from_behind, from_ahead=from_ahead)
    for out, index, column, chain, half, other, mask_ in pending:
        total = _plus(column, half, other)
        if mask_ is None:
            out[index] = total
        elif chain.role == 0:
            out[index] = chain.share(column, ahead=mask_, behind=total)
        else:
            out[index] = chain.share(column, ahead=total, behind=mask_)
    return results


def _nothing(column: Column) -> Words:
    return np.zeros_like(column.left)


def _swap(
    ctx: Context,
    undo: bool,
    behind: Sequence[Words] = (),
    ahead: Sequence[Words] = (),
    from_behind: Sequence[Words] = (),
    from_ahead: Sequence[Words] = (),
) -> None:
    """One round; all that goes one way is one message."""
    if undo:
        ctx.exchange(ahead, behind, from_ahead, from_behind)
    else:
        ctx.exchange(behind, ahead, from_behind, from_ahead)


def shuffle_cost(count: int, first: int, shared: Sequence[int], opened: Sequence[int] = (), undo: bool = False) -> Cost:
    """Cost of one load: bytes per item of its shared and its opened columns. Loads of one call add their bytes.

    A shared column costs four elements an item in all, an opened one six: the first role sends two or three of them.
    """
    sent = [0, 0, 0]
    step = -1 if undo else 1
    for nbytes, extra in [*((b, 0) for b in shared), *((b, 1) for b in opened)]:
        for role, elements in enumerate((2 + extra, 1, 1 + extra)):
            sent[(first + step * role) % 3] += elements * nbytes * count
    return Cost(2, (sent[0], sent[1], sent[2]))


def loads_cost(costs: Sequence[Cost]) -> Cost:
    """Several loads in the same two rounds."""
    total = sum((cost for cost in costs), FREE)
    return Cost(2, total.sent)
