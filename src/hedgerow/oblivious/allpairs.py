"""The best item of every segment among a few blocks, by comparing all pairs: many comparisons, few rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..primitives import Cost, bit_and, bit_not, gates_cost, multiply_bit, multiply_bit_cost
from ..primitives.cost import FREE
from ..primitives.gate import layer
from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, public_bits, unpack_bits
from ..sharing.ring import Words
from .packed import end_to_end, pack_rows, padded, rows_of
from .score import Items, Numbers, less_score, less_score_cost, riffled


def all_pairs(
    ctx: Context,
    lead: Items,
    trail: Items,
    linked: BinaryShare,
    single: BinaryShare,
    count: int,
    cross_bits: int,
) -> tuple[Numbers, Numbers]:
    """Answers for the first and last items of ``count`` blocks, comparing all their leads and trails with each other.

    Cost: :func:`all_pairs_cost`. Reveals: nothing beyond shapes.
    """
    if count == 1:
        return [x[:1] for x in lead.numbers], [x[:1] for x in trail.numbers]
    size = 2 * count
    items = Items.of(riffled([x[:count] for x in lead.columns], [x[:count] for x in trail.columns], size))
    links = _bits_riffled(linked, single, count)
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
        best = joined if best.rows % 2 == 0 else BinaryShare.stack([joined, best.row(best.rows - 1)])
    spread = BinaryShare.stack([_bit_everywhere(best, j, size) for j in range(size)])
    source = bit_and(ctx.step("source"), same, spread)
    table = [_repeated(x, size, source.left.shape[1] * 64) for x in items.numbers]
    chosen = multiply_bit(ctx.step("answer"), end_to_end([source]), table)
    totals = [_column_sums(x, size) for x in chosen]
    return [x[0:size:2] for x in totals], [x[1:size:2] for x in totals]


def all_pairs_cost(count: int, numbers: Sequence[Ring], cross_bits: int) -> Cost:
    """Cost of :func:`all_pairs`."""
    if count == 1:
        return FREE
    size = 2 * count
    cost = less_score_cost(size * (size - 1) // 2, cross_bits)
    span = 1
    while 2 * span < size:
        cost += gates_cost(1, size)
        span *= 2
    cost += gates_cost(size, size) * 2
    rows = size
    while rows > 1:
        cost += gates_cost(rows // 2, size)
        rows = (rows + 1) // 2
    return cost + gates_cost(size, size) + multiply_bit_cost(size * padded(size), numbers)


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
