"""The best item of every segment, told to all of the segment's items; segments are secret.

A binary tree over the items. Every block of the tree knows its *lead*, the best item of the segment its first item
belongs to (as far as it lies in the block), its *trail*, the same for its last item, and whether it is a *single*
segment. Two blocks join with one comparison: the left one's trail against the right one's lead. On the way down every
block learns the final answers for its first and its last item; that takes selections only. So n items cost n
comparisons, not n·log n, and no second sweep of comparisons. The last few blocks are finished by comparing all pairs,
which costs comparisons and saves rounds: how many blocks is a parameter, the tree's fan-in at the top.

Scores are fractions p/q. Of equal scores the earlier item wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..primitives import (
    Cost,
    bit_and,
    bit_not,
    dot,
    dot_cost,
    gates_cost,
    multiply_bit,
    multiply_bit_cost,
    select,
    select_sum,
    select_sum_cost,
    top_bit,
    top_bit_cost,
    widen,
    widen_cost,
)
from ..primitives.cost import FREE
from ..primitives.gate import layer
from ..sharing import RING64, RING128, ArithmeticShare, BinaryShare, Context, Ring, public_bits, unpack_bits
from ..sharing.ring import Words
from .packed import end_to_end, every_other, pack_rows, pad, padded, rows_of

FAN_IN = 16
"""Blocks finished by all pairs on a fast network; see docs/adr/0003-fast-trainer.md."""

Numbers = list[ArithmeticShare]


@dataclass(frozen=True, slots=True)
class Items:
    """Scores p/q and the numbers that ride along."""

    p: ArithmeticShare
    q: ArithmeticShare
    numbers: Numbers

    @property
    def columns(self) -> Numbers:
        """All columns."""
        return [self.p, self.q, *self.numbers]

    @staticmethod
    def of(columns: Sequence[ArithmeticShare]) -> Items:
        """The inverse of :attr:`columns`."""
        return Items(columns[0], columns[1], list(columns[2:]))


@dataclass(frozen=True, slots=True)
class _Joint:
    """What a level keeps for the way down: how many blocks met, the two items of each pair, the bits that decide."""

    count: int
    trail: Items
    lead: Items
    left_single: BinaryShare
    right_single: BinaryShare
    opening: BinaryShare
    less: BinaryShare


def less_score(ctx: Context, a: Items, b: Items, cross_bits: int) -> BinaryShare:
    """The bit p/q < p'/q' by cross products, in 2^64 where they fit and in 2^128 otherwise."""
    p, q, p2, q2 = a.p, a.q, b.p, b.q
    if cross_bits + 1 > RING64.bits:
        n = len(p)
        wide = widen(ctx.step("widen"), ArithmeticShare.concatenate([p, q, p2, q2]), RING128)
        p, q, p2, q2 = (wide[k * n : (k + 1) * n] for k in range(4))
    return top_bit(ctx.step("less"), dot(ctx.step("cross"), [p, -p2], [q2, q]), cross_bits + 1)


def segment_best(ctx: Context, items: Items, starts: BinaryShare, cross_bits: int, fan_in: int = FAN_IN) -> Numbers:
    """For every item the ``numbers`` of its segment's best item.

    ``starts`` flags the first item of every segment. Vectors have a multiple of 64 items.

    Paper: replaces HIKC23's GroupMax. Cost: about n comparisons of ``cross_bits`` bits, 2n selections of items on the
    way up and n of numbers on the way down, and 2·fan_in² comparisons at the top; a level takes the comparison's rounds
    and five more; exactly :func:`segment_best_cost`. Reveals: nothing beyond shapes.
    """
    count = len(items.p)
    lead = trail = items
    linked = bit_not(ctx, starts)
    ones = public_bits(ctx, np.full((1, count // 64), ~np.uint64(0)), count)
    flags = _Flags(ones, linked, linked)
    joints: list[_Joint] = []
    ahead = _look_ahead(ctx.step("ahead"), flags, count) if count > max(1, fan_in) else None
    while ahead is not None:
        (left_lead, right_lead), (left_trail, right_trail) = _halves(lead, count), _halves(trail, count)
        less = less_score(ctx, left_trail, right_lead, cross_bits)
        joints.append(
            _Joint(count, left_trail, right_lead, ahead.left.single, ahead.right.single, ahead.right.linked, less)
        )
        count = (count + 1) // 2
        more = count > max(1, fan_in)
        flags = ahead.joined
        join, ahead = _decide(ctx.step("decide"), ahead, less, count if more else None)
        length = len(left_lead.p)
        ones_, zeros = _joined(right_lead.columns, left_trail.columns), _joined(left_lead.columns, right_trail.columns)
        chosen = select(ctx.step("choose"), join, ones_, zeros)
        lead, trail = Items.of([x[:length] for x in chosen]), Items.of([x[length:] for x in chosen])
    first, last = _all_pairs(ctx.step("top"), lead, trail, flags, count, cross_bits)
    return _tell(ctx.step("tell"), joints, first, last)


@dataclass(frozen=True, slots=True)
class _Flags:
    """Per block: whether it is a single segment, whether its first item is linked to the block before, and both."""

    single: BinaryShare
    linked: BinaryShare
    whole: BinaryShare


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The flags of a level's left and right partners, whether a left block reaches its partner as a whole, and the
    flags of the joint blocks: all of it known before any score is compared."""

    left: _Flags
    right: _Flags
    reach: BinaryShare
    joined: _Flags


def _partners(flags: _Flags, count: int) -> tuple[_Flags, _Flags]:
    """Left and right partners; a missing right partner is not linked to anything."""
    left, right = (
        _Flags(*(every_other(x, side) for x in (flags.single, flags.linked, flags.whole))) for side in (0, 1)
    )
    real = _first_bits(count // 2, right.linked.left.shape[1])
    linked, whole = (BinaryShare(x.left & real, x.right & real, x.count) for x in (right.linked, right.whole))
    return left, _Flags(right.single, linked, whole)


def _ahead_gates(flags: _Flags, count: int) -> tuple[_Flags, _Flags, BinaryShare, BinaryShare]:
    """The partners, and the factors of the gates that look one level ahead, end to end."""
    left, right = _partners(flags, count)
    x = end_to_end([left.single, left.single, left.whole])
    y = end_to_end([right.linked, right.whole, right.whole])
    return left, right, x, y


def _ahead_of(left: _Flags, right: _Flags, gates: BinaryShare) -> _Ahead:
    reach, single, whole = (gates_cut.row(0) for gates_cut in _thirds(gates))
    return _Ahead(left, right, reach, _Flags(single, left.linked, whole))


def _thirds(x: BinaryShare) -> list[BinaryShare]:
    words = x.left.shape[1] // 3
    return [
        BinaryShare(x.left[:, k * words : (k + 1) * words], x.right[:, k * words : (k + 1) * words], 64 * words)
        for k in range(3)
    ]


def _look_ahead(ctx: Context, flags: _Flags, count: int) -> _Ahead:
    left, right, x, y = _ahead_gates(flags, count)
    return _ahead_of(left, right, bit_and(ctx, x, y))


def _first_bits(count: int, words: int) -> Words:
    """A public mask of the first ``count`` of ``64 * words`` places."""
    return pack_rows((np.arange(64 * words) < count).astype(np.uint8)[None])


def _decide(ctx: Context, ahead: _Ahead, less: BinaryShare, following: int | None) -> tuple[BinaryShare, _Ahead | None]:
    """Whether the right lead reaches the joint block's first item, then whether the left trail reaches its last, end to
    end; in the same round the look ahead at the next level of ``following`` blocks.

    The lead changes if the left block is single, the joint linked and the right lead better; the trail changes if the
    right block is single, the joint linked and the right lead not better.
    """
    x = end_to_end([ahead.reach, ahead.right.whole])
    y = end_to_end([less, bit_not(ctx, less)])
    if following is None:
        return bit_and(ctx, x, y), None
    left, right, more_x, more_y = _ahead_gates(ahead.joined, following)
    gates = bit_and(ctx, end_to_end([x, more_x]), end_to_end([y, more_y]))
    words = x.left.shape[1]
    join = BinaryShare(gates.left[:, :words], gates.right[:, :words], x.count)
    rest = BinaryShare(gates.left[:, words:], gates.right[:, words:], gates.count - x.count)
    return join, _ahead_of(left, right, rest)


def _stack(*parts: BinaryShare) -> BinaryShare:
    return BinaryShare.stack(parts)


def _halves(items: Items, count: int) -> tuple[Items, Items]:
    length = padded(count // 2)
    even, odd = (
        [pad(x[side:count:2], max(length, padded((count + 1) // 2))) for x in items.columns] for side in (0, 1)
    )
    return Items.of(even), Items.of(odd)


def _joined(a: Sequence[ArithmeticShare], b: Sequence[ArithmeticShare]) -> Numbers:
    return [ArithmeticShare.concatenate(pair) for pair in zip(a, b, strict=True)]


def _tell(ctx: Context, joints: Sequence[_Joint], first: Numbers, last: Numbers) -> Numbers:
    """The way down: from the top blocks' answers for their first and last items to every item's.

    A left block's last item (and, mirrored, a right block's first) gets: if its block is a single segment, the answer
    for the block's first item; else, if the joint is linked and the other block is single, that block's outer answer;
    else its segment ends inside, with the better of the two items that met, or its own if the joint is cut.
    """
    if not joints:
        return first
    middles = _middles(ctx, joints[1:])
    for joint, (single, far, numbers) in zip(reversed(joints[1:]), reversed(middles), strict=True):
        length = len(numbers[0]) // 2
        first, last = ([pad(x, length) for x in side] for side in (first, last))
        own, other = _joined(first, last), _joined(last, first)
        table = [[a - c for a, c in zip(side, numbers, strict=True)] for side in (own, other)]
        moved = select_sum(ctx.step("answer"), [single, far], table)
        inner = [c + d for c, d in zip(numbers, moved, strict=True)]
        left, right = [x[:length] for x in inner], [x[length:] for x in inner]
        first, last = _riffled(first, right, joint.count), _riffled(left, last, joint.count)
    return _riffled(first, last, joints[0].count)


def _riffled(even: Numbers, odd: Numbers, count: int) -> Numbers:
    results = []
    for a, b in zip(even, odd, strict=True):
        sides = []
        for x, y in ((a.left, b.left), (a.right, b.right)):
            out = np.empty(count, a.ring.dtype)
            out[0::2] = x[: (count + 1) // 2]
            out[1::2] = y[: count // 2]
            sides.append(out)
        results.append(ArithmeticShare(sides[0], sides[1], a.ring))
    return results


def _middles(ctx: Context, joints: Sequence[_Joint]) -> list[tuple[BinaryShare, BinaryShare, Numbers]]:
    """For all levels at once what does not depend on answers from above: which blocks are single, which look to the far
    side, and what a segment that ends inside gets; left blocks, then right ones."""
    if not joints:
        return []
    single = end_to_end([part for j in joints for part in (j.left_single, j.right_single)])
    other = end_to_end([part for j in joints for part in (j.right_single, j.left_single)])
    opening = end_to_end([part for j in joints for part in (j.opening, j.opening)])
    less = end_to_end([part for j in joints for part in (j.less, bit_not(ctx, j.less))])
    linked = bit_and(ctx.step("linked"), _stack(other, less), _stack(opening, opening))
    far = bit_and(ctx.step("far"), linked.row(0), bit_not(ctx, single))
    met, own = (
        [ArithmeticShare.concatenate(parts) for parts in zip(*pairs, strict=True)]
        for pairs in (
            [_joined(j.lead.numbers, j.trail.numbers) for j in joints],
            [_joined(j.trail.numbers, j.lead.numbers) for j in joints],
        )
    )
    numbers = select(ctx.step("middle"), linked.row(1), met, own)
    middles, start = [], 0
    for joint in joints:
        stop = start + 2 * len(joint.lead.p)
        words = slice(start // 64, stop // 64)
        bits = [BinaryShare(x.left[:, words], x.right[:, words], stop - start) for x in (single, far)]
        middles.append((bits[0], bits[1], [x[start:stop] for x in numbers]))
        start = stop
    return middles


def _all_pairs(
    ctx: Context, lead: Items, trail: Items, flags: _Flags, count: int, cross_bits: int
) -> tuple[Numbers, Numbers]:
    """Answers for the first and last items of the top blocks, comparing all their leads and trails with each other."""
    if count == 1:
        return [x[:1] for x in lead.numbers], [x[:1] for x in trail.numbers]
    size = 2 * count
    items = Items.of(_riffled([x[:count] for x in lead.columns], [x[:count] for x in trail.columns], size))
    links = _bits_riffled(flags.linked, flags.single, count)
    low, high = np.triu_indices(size, 1)
    less = less_score(ctx, _taken(items, low), _taken(items, high), cross_bits)
    beats = _matrix(ctx, less, low, high, size)
    same = _connected(ctx.step("same"), links, size)
    lost = bit_and(ctx.step("lost"), same, beats)
    best = bit_not(ctx, rows_of(lost, 0, size))
    while best.rows > 1:
        half = best.rows // 2
        index = np.arange(half)
        joined = layer(ctx.step("best"), best, np.full(half, -1), index, index + half)
        best = joined if best.rows % 2 == 0 else _stack(joined, best.row(best.rows - 1))
    spread = BinaryShare.stack([_bit_everywhere(best, j, size) for j in range(size)])
    source = bit_and(ctx.step("source"), same, spread)
    table = [_repeated(x, size, source.left.shape[1] * 64) for x in items.numbers]
    chosen = multiply_bit(ctx.step("answer"), end_to_end([source]), table)
    totals = [_column_sums(x, size) for x in chosen]
    return [x[0:size:2] for x in totals], [x[1:size:2] for x in totals]


def _taken(items: Items, index: Words) -> Items:
    return Items.of([x[index] for x in items.columns])


def _bits_riffled(linked: BinaryShare, single: BinaryShare, count: int) -> BinaryShare:
    """Per item of the riffled leads and trails whether it belongs to the segment of the item before."""

    def joined(a: Words, b: Words) -> Words:
        return pack_rows(np.stack([unpack_bits(a, count), unpack_bits(b, count)], axis=2).reshape(1, -1))

    return BinaryShare(joined(linked.left, single.left), joined(linked.right, single.right), 2 * count)


def _matrix(ctx: Context, less: BinaryShare, low: Words, high: Words, size: int) -> BinaryShare:
    """Row j, item i: whether item j beats item i. An earlier item beats a later one unless it is less."""

    def spread(words: Words) -> Words:
        bits = unpack_bits(words, len(low))[0]
        out = np.zeros((size, size), np.uint8)
        out[high, low] = bits
        out[low, high] = bits
        return pack_rows(out)

    earlier = np.zeros((size, size), np.uint8)
    earlier[low, high] = 1
    share = BinaryShare(spread(less.left), spread(less.right), size)
    return share ^ public_bits(ctx, pack_rows(earlier), size)


def _connected(ctx: Context, links: BinaryShare, size: int) -> BinaryShare:
    """Row j, item i: whether items i and j are in one segment, from the links between neighbours.

    Runs of 2^k links are joined by doubling; any run is the union of two of those.
    """
    runs = [links]
    span = 1
    while 2 * span < size:
        previous = runs[-1]
        runs.append(bit_and(ctx.step("run"), previous, _shifted(previous, span)))
        span *= 2
    i, j = np.meshgrid(np.arange(size), np.arange(size))
    low, high = np.minimum(i, j), np.maximum(i, j)
    distance = high - low
    power = np.maximum(0, np.frexp(np.maximum(distance, 1))[1] - 1)
    ends, others = high, low + (1 << power)

    def pick(words: Words, at: Words) -> Words:
        picked: Words = unpack_bits(words, size)[power, np.minimum(at, size - 1)]
        return picked

    rows = BinaryShare.stack(runs)
    a, b = (BinaryShare(pack_rows(pick(rows.left, at)), pack_rows(pick(rows.right, at)), size) for at in (ends, others))
    joined = bit_and(ctx.step("join"), a, b)
    off = pack_rows((distance > 0).astype(np.uint8))
    return BinaryShare(joined.left & off, joined.right & off, size) ^ public_bits(
        ctx, pack_rows((distance == 0).astype(np.uint8)), size
    )


def _shifted(x: BinaryShare, span: int) -> BinaryShare:
    """Every item gets the bit ``span`` places before it, the first ones 0."""

    def change(words: Words) -> Words:
        bits = unpack_bits(words, x.count)
        moved = np.zeros_like(bits)
        moved[:, span:] = bits[:, :-span]
        return pack_rows(moved)

    return BinaryShare(change(x.left), change(x.right), x.count)


def _bit_everywhere(x: BinaryShare, index: int, size: int) -> BinaryShare:
    """One item's bit, repeated for every item."""

    def change(words: Words) -> Words:
        bit = int(words[0, index >> 6]) >> (index & 63) & 1
        return np.full((1, padded(size) // 64), ~np.uint64(0) if bit else np.uint64(0))

    return BinaryShare(change(x.left), change(x.right), size)


def _repeated(x: ArithmeticShare, size: int, stride: int) -> ArithmeticShare:
    """Item j repeated ``stride`` times, one row for every j."""
    left, right = (np.repeat(side[:size], stride) for side in (x.left, x.right))
    return ArithmeticShare(left, right, x.ring)


def _column_sums(x: ArithmeticShare, size: int) -> ArithmeticShare:
    """The sum over the rows of a flat matrix, for its first ``size`` columns."""
    left, right = (side.reshape(size, -1).sum(axis=0, dtype=x.ring.dtype)[:size].copy() for side in (x.left, x.right))
    return ArithmeticShare(left, right, x.ring)


def segment_best_cost(count: int, numbers: Sequence[Ring], cross_bits: int, fan_in: int = FAN_IN) -> Cost:
    """Cost of :func:`segment_best` for ``count`` items, a multiple of 64."""
    columns = [RING64, RING64, *numbers]

    def comparison(pairs: int) -> Cost:
        wide = cross_bits + 1 > RING64.bits
        widening = widen_cost(4 * pairs, RING64, RING128) if wide else FREE
        return widening + dot_cost(pairs, RING128 if wide else RING64) + top_bit_cost(pairs, cross_bits + 1)

    cost = FREE
    halves: list[int] = []
    if count > max(1, fan_in):
        cost += gates_cost(1, 3 * padded((count + 1) // 2))
    while count > max(1, fan_in):
        half = padded((count + 1) // 2)
        halves.append(half)
        count = (count + 1) // 2
        ahead = 3 * padded((count + 1) // 2) if count > max(1, fan_in) else 0
        cost += comparison(half) + gates_cost(1, 2 * half + ahead) + multiply_bit_cost(2 * half, columns)
    if count > 1:
        size = 2 * count
        cost += comparison(size * (size - 1) // 2)
        span = 1
        while 2 * span < size:
            cost += gates_cost(1, size)
            span *= 2
        cost += gates_cost(size, size) * 2
        rows = size
        while rows > 1:
            cost += gates_cost(rows // 2, size)
            rows = (rows + 1) // 2
        cost += gates_cost(size, size) + multiply_bit_cost(size * padded(size), numbers)
    if len(halves) > 1:
        total = 2 * sum(halves[1:])
        cost += gates_cost(2, total) + gates_cost(1, total) + multiply_bit_cost(total, numbers)
        for half in halves[1:]:
            cost += select_sum_cost(2 * half, 2, numbers)
    return cost
