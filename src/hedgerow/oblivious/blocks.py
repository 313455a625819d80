"""The best item of every segment, from blocks that know their ends: groups of several blocks at once, few rounds.

Block b has a lead (best item of its first item's segment, inside the block) and a trail (the same for its last item);
in a *single* block they are the same. Of two blocks a < b that lie in one segment everything between a's last and b's
first item belongs to it, so comparing a's trail with b's lead decides between the two, whichever of their ends one asks
for. A group of R blocks needs R(R-1)/2 such comparisons, all in one batch; its own lead and trail go up to the next
level.

Inside a group the ends of blocks are numbered x = 2b for the lead and 2b + 1 for the trail. Seen from x, block b stands
in for its segment by its trail if it comes before x's block and by its lead if it comes after: :func:`_stand_ins`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..primitives import (
    Cost,
    bit_and,
    bit_not,
    bit_to_ring,
    bit_to_ring_cost,
    equal_cost,
    gates_cost,
    is_zero,
    multiply_bit,
    multiply_bit_cost,
    multiply_unshared,
    multiply_unshared_cost,
    select_sum,
    select_sum_cost,
)
from ..primitives.cost import FREE
from ..primitives.gate import Index, gate_summands, layer
from ..sharing import RING32, RING64, ArithmeticShare, BinaryShare, Context, Ring, public, unpack_bits, words_for
from ..sharing.ring import Words
from .packed import pack_rows, pad, padded, rows_of
from .score import Items, Numbers, less_score, less_score_cost

RADIX = 8
"""Blocks of a group on all levels but the last."""
TOP = 20
"""Blocks that make one last group; see docs/adr/0003-fast-trainer.md."""


@dataclass(frozen=True, slots=True)
class _Level:
    """``groups`` groups of ``radix`` blocks each."""

    radix: int
    groups: int

    @property
    def ends(self) -> int:
        """Leads and trails in a group."""
        return 2 * self.radix

    @property
    def blocks(self) -> int:
        """Blocks, padding included."""
        return self.radix * self.groups


def levels_of(count: int) -> list[_Level]:
    """The levels that join ``count`` blocks into one."""
    levels = []
    while count > TOP:
        count = -(-count // RADIX)
        levels.append(_Level(RADIX, count))
    return [*levels, _Level(count, 1)] if count > 1 else levels


@lru_cache(maxsize=256)
def _stand_ins(radix: int) -> tuple[Index, Index, Index]:
    """For every other block, slot by slot, and every end x: x, the block's number, the end that stands in for it."""
    slot, x = (v.reshape(-1) for v in np.meshgrid(np.arange(radix - 1), np.arange(2 * radix), indexing="ij"))
    own = x // 2
    block = np.where(slot < own, slot, slot + 1)
    return x, block, np.where(block < own, 2 * block + 1, 2 * block)


@lru_cache(maxsize=256)
def _pair_numbers(size: int) -> Index:
    """A square table with the number of the pair (low, high) among all pairs, both ways."""
    low, high = np.triu_indices(size, 1)
    table = np.zeros((size, size), np.int64)
    table[low, high] = table[high, low] = np.arange(len(low))
    return table


@dataclass(frozen=True, slots=True)
class _Links:
    """Per pair of ends whether they are in one segment; per inner end whether the group's first end answers for it, and
    whether only the last one does."""

    same: BinaryShare
    to_first: BinaryShare
    to_last: BinaryShare


@dataclass(frozen=True, slots=True)
class _Joined:
    """What a level keeps for the way down: its blocks and where each end's answer inside the group comes from."""

    lead: Items
    trail: Items
    source: BinaryShare


def join_blocks(
    ctx: Context,
    lead: Items,
    trail: Items,
    linked: BinaryShare,
    single: BinaryShare,
    count: int,
    cross_bits: int,
) -> tuple[Numbers, Numbers]:
    """Answers for the first and last items of ``count`` blocks.

    ``linked`` says whether a block's first item continues the segment before it, ``single`` whether the block lies in
    one segment. Paper: our own. Cost: :func:`join_blocks_cost`. Reveals: nothing beyond shapes.
    """
    lead, trail = (Items.of([x[:count] for x in side.columns]) for side in (lead, trail))
    levels = levels_of(count)
    if not levels:
        return lead.numbers, trail.numbers
    links = _links(ctx.step("links"), linked, single, count, levels)
    joined = []
    for level, link in zip(levels, links, strict=True):
        lead, trail = (_extended(side, level.blocks) for side in (lead, trail))
        gates = _source_gates(ctx, level, lead, trail, link.same, cross_bits)
        source, outer_lead, outer_trail = _outer(ctx.step("outer"), level, lead, trail, gates)
        joined.append(_Joined(lead, trail, source))
        lead, trail = outer_lead, outer_trail
    first, last = lead.numbers, trail.numbers
    inner = _inner(ctx.step("inner"), levels, joined)
    for k in reversed(range(len(levels))):
        answers = inner[k]
        if k + 1 < len(levels):
            answers = _told(ctx.step("tell"), levels[k], links[k], answers, first, last)
        below = count if k == 0 else levels[k - 1].groups
        first, last = _spread(levels[k], answers, first, last, below)
    return first, last


def join_blocks_cost(count: int, numbers: Sequence[Ring], cross_bits: int, score: Ring = RING64) -> Cost:
    """Cost of :func:`join_blocks`."""
    levels = levels_of(count)
    if not levels:
        return FREE
    cost = bit_to_ring_cost(padded(2 * count), RING32)
    pairs = sum(_pairs(level.ends) * level.groups for level in levels)
    cost += equal_cost(pairs, _number_bits(count))
    cost += gates_cost(1, sum((level.ends - 2) * level.groups for level in levels))
    for level in levels:
        cost += less_score_cost(_pairs(level.radix) * level.groups, cross_bits, score)
        others = level.radix - 1
        cost += gates_cost(level.ends * others, level.groups)
        while others > 1:
            cost += gates_cost(level.ends * (others // 2), level.groups)
            others = (others + 1) // 2
        sources = level.ends * (level.radix - 1) * words_for(level.groups)
        cost += multiply_unshared_cost(2 * (level.radix - 1) * level.groups, [score, RING64, *numbers], sources)
    cost += multiply_bit_cost(sum((x.ends - 2) * (x.radix - 1) * x.groups for x in levels), numbers)
    for level in levels[:-1]:
        cost += select_sum_cost((level.ends - 2) * level.groups, 2, numbers)
    return cost


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


def _number_bits(count: int) -> int:
    """Bits that tell all segments and all padding blocks apart."""
    return (2 * count + (RADIX + 1) * len(levels_of(count))).bit_length()


def _links(
    ctx: Context, linked: BinaryShare, single: BinaryShare, count: int, levels: Sequence[_Level]
) -> list[_Links]:
    """Which ends lie in one segment, for all levels at once: segments are numbered and the numbers compared."""
    bits = _bits_riffled(linked, single, count)
    ends = public(ctx, np.ones(2 * count, np.uint32), RING32) - bit_to_ring(ctx.step("bit"), bits, RING32)[: 2 * count]
    numbers = ends.prefix_sum()
    first, last = numbers[0::2], numbers[1::2]
    unused = 2 * count + 1
    differences = []
    for level in levels:
        extra = level.blocks - len(first)
        if extra:
            fresh = public(ctx, np.arange(unused, unused + extra, dtype=np.uint32), RING32)
            first, last = (ArithmeticShare.concatenate([side, fresh]) for side in (first, last))
            unused += extra
        both = ArithmeticShare.concatenate([first, last])
        low, high = np.triu_indices(level.ends, 1)
        differences.append(both[_places(level, low)] - both[_places(level, high)])
        first, last = first[0 :: level.radix], last[level.radix - 1 :: level.radix]
    equal = is_zero(ctx.step("equal"), ArithmeticShare.concatenate(differences), _number_bits(count))
    same, start = [], 0
    for level in levels:
        stop = start + _pairs(level.ends) * level.groups
        same.append(_rows(equal, start, stop, level.groups))
        start = stop
    to_first, to_last = [], []
    for level, bits in zip(levels, same, strict=True):
        table, inner = _pair_numbers(level.ends), np.arange(1, level.ends - 1)
        to_first.append(_flat([_taken_rows(bits, table[inner, 0])]))
        to_last.append(_flat([_taken_rows(bits, table[inner, level.ends - 1])]))
    only_last = bit_and(ctx.step("only"), bit_not(ctx, _flat(to_first)), _flat(to_last))
    links, start = [], 0
    for bits, near in zip(same, to_first, strict=True):
        links.append(_Links(bits, near, _rows(only_last, start, start + near.count, near.count)))
        start += near.count
    return links


@dataclass(frozen=True, slots=True)
class _Gates:
    """AND gates on rows of bits that have not been evaluated yet."""

    state: BinaryShare
    x: Index
    y: Index

    def summands(self, ctx: Context, rows: Index | slice) -> Words:
        """This party's summands of some of the gates, freshly masked."""
        x, y = self.x[rows], self.y[rows]
        return gate_summands(ctx, self.state, np.full(len(x), -1), x, y)


def _source_gates(ctx: Context, level: _Level, lead: Items, trail: Items, same: BinaryShare, cross_bits: int) -> _Gates:
    """Per stand-in (see :func:`_stand_ins`) the gate that says whether it holds the best item of its end's segment in
    the group."""
    low, high = np.triu_indices(level.radix, 1)
    a, b = (_places(level, 2 * blocks) for blocks in (low, high))
    flat = less_score(ctx, _taken(trail, a), _taken(lead, b), cross_bits)
    less = _rows(flat, 0, len(a), level.groups)
    # An earlier block beats a later one unless it is less, a later one an earlier one if that is less.
    beats = BinaryShare.stack([less, bit_not(ctx, less)])
    x, block, stand_in = _stand_ins(level.radix)
    linked = _pair_numbers(level.ends)[x, stand_in]
    beaten = _pair_numbers(level.radix)[x // 2, block] + np.where(block < x // 2, less.rows, 0)
    none = np.full(len(x), -1)
    lost = layer(ctx.step("lost"), BinaryShare.stack([same, beats]), none, linked, same.rows + beaten)
    best, others = bit_not(ctx, lost), level.radix - 1
    while others > 1:
        half, odd = others // 2, others % 2
        index = np.arange(half * level.ends)
        met = layer(ctx.step("best"), best, none[: len(index)], index, index + len(index))
        best = BinaryShare.stack([met, rows_of(best, 2 * len(index), best.rows)]) if odd else met
        others = half + odd
    return _Gates(BinaryShare.stack([same, best]), linked, same.rows + stand_in)


@dataclass(frozen=True, slots=True)
class _Moves:
    """For some ends of every group: their own columns, and per other block what changes if that one answers; ``rows``
    are the stand-ins this depends on."""

    slots: int
    rows: Index
    own: Numbers
    changes: Numbers

    def answers(self, moved: Numbers) -> Numbers:
        """The ends' columns after the changes that apply, given as :attr:`changes` times the bits of :attr:`rows`."""
        return [own + _slot_sums(change, self.slots) for own, change in zip(self.own, moved, strict=True)]


def _moves(level: _Level, leads: Numbers, trails: Numbers, start: int, stop: int, step: int = 1) -> _Moves:
    """The moves of the ends ``start:stop:step``, flat: one item a group."""
    x, _, stand_in = (v.reshape(level.radix - 1, level.ends)[:, start:stop:step] for v in _stand_ins(level.radix))
    own, others = (_places(level, ends) for ends in (x[0], stand_in.reshape(-1)))
    columns = [ArithmeticShare.concatenate(pair) for pair in zip(leads, trails, strict=True)]
    mine = [column[own] for column in columns]
    slots = level.radix - 1
    changes = [
        column[others] - ArithmeticShare.concatenate([m] * slots) for column, m in zip(columns, mine, strict=True)
    ]
    rows = np.arange(slots * level.ends).reshape(slots, level.ends)[:, start:stop:step].reshape(-1)
    return _Moves(slots, rows, mine, changes)


def _outer(ctx: Context, level: _Level, lead: Items, trail: Items, gates: _Gates) -> tuple[BinaryShare, Items, Items]:
    """All gates, and every group's lead and trail, which depend on a few of them."""
    moves = _moves(level, lead.columns, trail.columns, 0, level.ends, level.ends - 1)
    few = _flat_words([gates.summands(ctx.step("few"), moves.rows)], [level.groups])[0]
    source = gates.summands(ctx.step("source"), slice(None))
    moved, passed = multiply_unshared(ctx, few, moves.changes, source)
    answers = moves.answers(moved)
    lead, trail = (Items.of([x[at : at + level.groups] for x in answers]) for at in (0, level.groups))
    return BinaryShare(source, passed, level.groups), lead, trail


def _inner(ctx: Context, levels: Sequence[_Level], joined: Sequence[_Joined]) -> list[Numbers]:
    """For all levels at once, per inner end the answer inside its group."""
    parts = [
        _moves(level, join.lead.numbers, join.trail.numbers, 1, level.ends - 1)
        for level, join in zip(levels, joined, strict=True)
    ]
    bits = [_taken_rows(join.source, part.rows) for join, part in zip(joined, parts, strict=True)]
    changes = [ArithmeticShare.concatenate(columns) for columns in zip(*(p.changes for p in parts), strict=True)]
    moved = multiply_bit(ctx, _flat(bits), changes)
    answers, start = [], 0
    for part in parts:
        stop = start + len(part.changes[0])
        answers.append(part.answers([x[start:stop] for x in moved]))
        start = stop
    return answers


def _told(ctx: Context, level: _Level, links: _Links, inner: Numbers, first: Numbers, last: Numbers) -> Numbers:
    """The inner ends' answers once those of the group's first and last end are known."""
    changes = [[_tiled(end, level) - own for end, own in zip(ends, inner, strict=True)] for ends in (first, last)]
    moved = select_sum(ctx, [links.to_first, links.to_last], changes)
    return [own + change for own, change in zip(inner, moved, strict=True)]


def _spread(level: _Level, inner: Numbers, first: Numbers, last: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The answers of all groups' ends as those of the ``count`` blocks' first and last items."""

    def of_blocks(side: int) -> Numbers:
        results = []
        for own, a, b in zip(inner, first, last, strict=True):
            sides = []
            for rows, outer in ((own.left, (a.left, b.left)), (own.right, (a.right, b.right))):
                table = np.empty((level.groups, level.ends), rows.dtype)
                table[:, 1:-1] = rows.reshape(level.ends - 2, level.groups).T
                table[:, 0], table[:, -1] = outer
                sides.append(table[:, side::2].reshape(-1)[:count])
            results.append(ArithmeticShare(sides[0], sides[1], own.ring))
        return results

    return of_blocks(0), of_blocks(1)


def _places(level: _Level, ends: Index) -> Index:
    """Where the given ends of all groups stand in columns of all leads and then all trails."""
    group = np.arange(level.groups)
    places: Index = ((ends % 2 * level.blocks + ends // 2)[:, None] + group * level.radix).reshape(-1)
    return places


def _taken(items: Items, index: Index) -> Items:
    return Items.of([x[index] for x in items.columns])


def _taken_rows(x: BinaryShare, index: Index) -> BinaryShare:
    return BinaryShare(x.left[index], x.right[index], x.count)


def _extended(items: Items, length: int) -> Items:
    return Items.of([pad(x, length) for x in items.columns])


def _tiled(x: ArithmeticShare, level: _Level) -> ArithmeticShare:
    """One item a group, repeated for every inner end."""
    return ArithmeticShare(np.tile(x.left, level.ends - 2), np.tile(x.right, level.ends - 2), x.ring)


def _slot_sums(x: ArithmeticShare, slots: int) -> ArithmeticShare:
    count = len(x) // slots
    if x.ring.bits == 128:
        return ArithmeticShare.total([x[k * count : (k + 1) * count] for k in range(slots)])
    left, right = (side.reshape(slots, -1).sum(axis=0, dtype=x.ring.dtype) for side in (x.left, x.right))
    return ArithmeticShare(left, right, x.ring)


def _flat(parts: Sequence[BinaryShare]) -> BinaryShare:
    """All rows of all parts as one row, without padding in between."""
    counts = [part.count for part in parts]
    left, right = (_flat_words(side, counts) for side in ([p.left for p in parts], [p.right for p in parts]))
    return BinaryShare(left, right, sum(part.rows * part.count for part in parts))


def _flat_words(parts: Sequence[Words], counts: Sequence[int]) -> Words:
    """Packed rows of so many items as one row, without padding in between."""
    rows = [unpack_bits(words, count).reshape(-1) for words, count in zip(parts, counts, strict=True)]
    return pack_rows(np.concatenate(rows)[None])


def _rows(flat: BinaryShare, start: int, stop: int, groups: int) -> BinaryShare:
    """Items ``start:stop`` of one row as rows of one item a group."""

    def change(words: Words) -> Words:
        return pack_rows(unpack_bits(words, flat.count)[0, start:stop].reshape(-1, groups))

    return BinaryShare(change(flat.left), change(flat.right), groups)


def _bits_riffled(linked: BinaryShare, single: BinaryShare, count: int) -> BinaryShare:
    """Per end, leads and trails in turn, whether it belongs to the segment of the end before."""

    def joined(a: Words, b: Words) -> Words:
        return pack_rows(np.stack([unpack_bits(a, count), unpack_bits(b, count)], axis=2).reshape(1, -1))

    return BinaryShare(joined(linked.left, single.left), joined(linked.right, single.right), padded(2 * count))
