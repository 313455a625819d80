"""Secret shuffles: a permutation that is the product of three, of which every party knows two.

Three roles, named after their place in the chain: *first*, *second*, *third*. The pair (first, second) applies the
permutation it shares, then (second, third), then (third, first); the vector hops between the pairs in two-summand form,
masked by the key of the pair that hands it on. Undoing a shuffle is the same chain the other way round, so all code
here speaks of the neighbour *ahead* and the one *behind*: right and left when shuffling, left and right when undoing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine import FREE, Context, Cost, Protocol, Round, Steps
from ...errors import HedgerowError
from ...kernels import permute
from ...shares import FIELD61, Bytes, Numbers, Words

Column = Numbers | Bytes
SPARE_WORDS = 4
"""Words drawn beyond one per item, to replace those that would bias a permutation."""


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
            raise RuntimeError("a shuffle used up its spare random words, which has a probability below 2^-100")
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
        return self._mask(column, self.ctx.with_left if self.undo else self.ctx.with_right)

    def mask_behind(self, column: Column) -> Words:
        """The next mask shared with the neighbour behind."""
        return self._mask(column, self.ctx.with_right if self.undo else self.ctx.with_left)

    def _mask(self, column: Column, draw: Callable[..., Words]) -> Words:
        words = draw(column.left.shape, column.left.dtype)
        return column.ring.uniform(words) if isinstance(column, Numbers) else words

    def behind(self, column: Column) -> Words:
        """The summand the neighbour behind holds too."""
        return np.ascontiguousarray(column.right if self.undo else column.left)

    def share(self, column: Column, ahead: Words, behind: Words) -> Column:
        """A result of the column's kind from its two summands."""
        left, right = (ahead, behind) if self.undo else (behind, ahead)
        return Numbers(left, right, column.ring) if isinstance(column, Numbers) else Bytes(left, right)


def inverse(order: Words) -> Words:
    """The inverse of a public permutation; anything else that peers made us open ends the run."""
    out = np.empty_like(order)
    if not permute.invert_permutation(np.ascontiguousarray(order), out):
        raise HedgerowError("the opened places are no permutation: a party deviated, or the input was none")
    return out


def _gather(column: Column, x: Words, order: Words, mask: Words, negative: bool) -> Words:
    """``x[order]`` plus or minus a mask, in the column's algebra."""
    out = np.empty_like(mask)
    if isinstance(column, Bytes):
        permute.gather_flipped(x, order, mask, out)
    elif column.ring == FIELD61:
        permute.gather(x, order, out)
        return _minus(column, out, mask) if negative else _plus(column, out, mask)
    elif column.ring.bits == 128:
        permute.gather_masked_words(x, order, mask, negative, out)
    else:
        permute.gather_masked(x, order, mask, negative, out)
    return out


def _plus(column: Column, a: Words, b: Words) -> Words:
    out: Words = column.ring.add(a, b) if isinstance(column, Numbers) else a ^ b
    return out


def _minus(column: Column, a: Words, b: Words) -> Words:
    out: Words = column.ring.subtract(a, b) if isinstance(column, Numbers) else a ^ b
    return out


@dataclass(frozen=True, slots=True)
class ShuffleJob:
    """Columns that move under one shuffle. ``opened`` lists those that come out public instead of shared."""

    shuffle: Shuffle
    columns: Sequence[Column]
    opened: Sequence[int] = ()


@Protocol
def run_shuffles(ctx: Context, jobs: Sequence[ShuffleJob], undo: bool = False) -> Steps[list[list[Any]]]:
    """Move every job's columns under its shuffle, or back with ``undo``, all in the same two rounds.

    Result columns are shares, or public arrays where the job says ``opened``: a permutation may be, once.

    Paper: CHI+19/AHIKNPT22 style resharing, with both hops of the first round sent at once. Cost: :func:`shuffle_cost`.
    Reveals: the opened columns, nothing else. Every message is masked: in round 1 by the key of the sending pair, in
    round 2 by a summand of the result (shared columns) or by the key of first and third (opened columns).
    """
    if any(len(column) != len(job.shuffle) for job in jobs for column in job.columns):
        raise ValueError(f"all columns need as many items as their shuffle; got {list(jobs)!r}")
    moves = []
    for job in jobs:
        chain = _Chain(ctx, job.shuffle, undo)
        moves += [_MOVES[chain.role](chain, column, index in job.opened) for index, column in enumerate(job.columns)]
    messages = _Messages()
    for move in moves:
        move.first_round(messages)
    yield messages.round(undo)
    messages = _Messages()
    for move in moves:
        move.second_round(messages)
    yield messages.round(undo)
    results = iter([move.result() for move in moves])
    return [[next(results) for _ in job.columns] for job in jobs]


class _Messages:
    """What goes one way in a round is one message, whatever it consists of."""

    def __init__(self) -> None:
        self.behind: list[Words] = []
        self.ahead: list[Words] = []
        self.from_behind: list[Words] = []
        self.from_ahead: list[Words] = []

    def round(self, undo: bool) -> Round:
        """Behind is left when shuffling, right when undoing."""
        if undo:
            return Round(
                to_left=self.ahead, to_right=self.behind, from_left=self.from_ahead, from_right=self.from_behind
            )
        return Round(to_left=self.behind, to_right=self.ahead, from_left=self.from_behind, from_right=self.from_ahead)

    def take_ahead(self, like: Words) -> Words:
        """Expect an array from the neighbour ahead."""
        self.from_ahead.append(np.empty_like(like))
        return self.from_ahead[-1]

    def take_behind(self, like: Words) -> Words:
        """Expect an array from the neighbour behind."""
        self.from_behind.append(np.empty_like(like))
        return self.from_behind[-1]


class _Move:
    """One column under one shuffle, in one of the three roles. Two halves add up to the result, or to the summand of it
    that two parties hold; ``mask`` is this party's other summand where the result stays shared."""

    def __init__(self, chain: _Chain, column: Column, opened: bool) -> None:
        self.chain, self.column, self.opened = chain, column, opened
        self.half = self.other = self.mask = column.left

    def first_round(self, messages: _Messages) -> None:
        """Hand on what the pair before has permuted."""
        raise AssertionError("every role has its own")

    def second_round(self, messages: _Messages) -> None:
        """Turn two summands into the result."""
        raise AssertionError("every role has its own")

    def result(self) -> Any:
        """A share, or the opened column."""
        total = _plus(self.column, self.half, self.other)
        return total if self.opened else self.share(total)

    def share(self, total: Words) -> Column:
        """The result's share, from the summand that this party's two neighbours do not both lack."""
        return self.chain.share(self.column, ahead=self.mask, behind=total)


class _First(_Move):
    """Sends its summand, permuted with the second; ends with the last permutation, which it has with the third."""

    def first_round(self, messages: _Messages) -> None:
        chain, column = self.chain, self.column
        mask = chain.mask_ahead(column)
        messages.behind.append(_gather(column, chain.behind(column), chain.order_ahead, mask, True))
        self.incoming = messages.take_ahead(column.left)

    def second_round(self, messages: _Messages) -> None:
        chain, column = self.chain, self.column
        mine = _gather(column, self.incoming, chain.order_behind, _zeros(column), False)
        self.mask = chain.mask_behind(column) if self.opened else chain.mask_ahead(column)
        self.half = _minus(column, mine, self.mask)
        messages.behind.append(self.half)
        self.other = messages.take_behind(self.half)
        if self.opened:
            messages.ahead.append(self.half)


class _Second(_Move):
    """Sends the sum of its summands, permuted with both others, and receives nothing unless the column is opened."""

    def first_round(self, messages: _Messages) -> None:
        chain, column = self.chain, self.column
        first, second = chain.mask_behind(column), chain.mask_ahead(column)
        both = _plus(column, column.left, column.right)
        moved = _gather(column, both, chain.order_behind, first, False)
        messages.behind.append(_gather(column, moved, chain.order_ahead, second, True))

    def second_round(self, messages: _Messages) -> None:
        chain, column = self.chain, self.column
        if self.opened:
            self.half, self.other = messages.take_behind(column.left), messages.take_ahead(column.left)
        else:
            self.near, self.mask = chain.mask_behind(column), chain.mask_ahead(column)

    def result(self) -> Any:
        return super().result() if self.opened else self.share(self.near)


class _Third(_Move):
    """Applies two permutations to what comes from the first."""

    def first_round(self, messages: _Messages) -> None:
        self.incoming = messages.take_ahead(self.column.left)
        self.entering = self.chain.mask_behind(self.column)

    def second_round(self, messages: _Messages) -> None:
        chain, column = self.chain, self.column
        moved = _gather(column, self.incoming, chain.order_behind, self.entering, False)
        moved = _gather(column, moved, chain.order_ahead, _zeros(column), False)
        if self.opened:
            self.half = _plus(column, moved, chain.mask_ahead(column))
            messages.behind.append(self.half)
        else:
            self.mask = chain.mask_behind(column)
            self.half = _minus(column, moved, self.mask)
        messages.ahead.append(self.half)
        self.other = messages.take_ahead(self.half)

    def share(self, total: Words) -> Column:
        return self.chain.share(self.column, ahead=total, behind=self.mask)


_MOVES: tuple[type[_Move], ...] = (_First, _Second, _Third)


def _zeros(column: Column) -> Words:
    return np.zeros_like(column.left)


def shuffle_cost(count: int, first: int, shared: Sequence[int], opened: Sequence[int] = (), undo: bool = False) -> Cost:
    """Cost of one job: bytes per item of its shared and its opened columns. Jobs of one call add their bytes.

    A shared column costs four elements per item in all, an opened one six: the first role sends two or three of them.
    """
    sent = [0, 0, 0]
    step = -1 if undo else 1
    for nbytes, extra in [*((b, 0) for b in shared), *((b, 1) for b in opened)]:
        for role, elements in enumerate((2 + extra, 1, 1 + extra)):
            sent[(first + step * role) % 3] += elements * nbytes * count
    return Cost(2, (sent[0], sent[1], sent[2]))


def shuffles_cost(costs: Sequence[Cost]) -> Cost:
    """Several jobs in the same two rounds."""
    total = sum((cost for cost in costs), FREE)
    return Cost(2, total.sent)
