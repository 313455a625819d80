"""The best item of every segment, from blocks that know their ends: groups of several blocks at once, few rounds.

Block b has a lead (best item of its first item's segment, inside the block) and a trail (the same for its last item);
in a *single* block they are the same. Of two blocks a < b that lie in one segment everything between a's last and b's
first item belongs to it, so comparing a's trail with b's lead decides between the two, whichever of their ends is asked
for. A group of R blocks needs R(R-1)/2 such comparisons, all in one batch; its own lead and trail go up to the next
level.

Inside a group the ends of blocks are numbered x = 2b for the lead and 2b + 1 for the trail. Seen from x, block b stands
in for its segment by its trail if it comes before x's block and by its lead if it comes after: :func:`_stand_ins`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from .. import protocols as mpc
from ..engine import FREE, Context, Cost
from ..shares import RING32, Bits, Columns, Index, Numbers, Ring, pack_rows, padded, take_bits

RADIX = 8
"""Blocks of a group on all levels but the last."""
_TOGETHER = 4
"""Bits multiplied at once."""
TOP = 20
"""Blocks that make one last group; see docs/decisions/0003-fast-trainer.md."""


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
    """Per slot and end (see :func:`_stand_ins`) whether the stand-in is in the end's segment; per inner end whether the
    group's first end answers for it, and whether only the last one does."""

    same: Bits
    to_first: Bits
    to_last: Bits


@dataclass(frozen=True, slots=True)
class _Joined:
    """What a level keeps for the way down: its blocks and where each end's answer inside the group comes from."""

    lead: Columns
    trail: Columns
    source: Bits


def join_blocks(
    ctx: Context, lead: Columns, trail: Columns, linked: Bits, single: Bits, count: int, scores: mpc.Scores
) -> tuple[Columns, Columns]:
    """The numbers answered for the first and last items of ``count`` blocks.

    ``linked`` says whether a block's first item continues the segment before it, ``single`` whether the block lies in
    one segment. Paper: our own. Cost: :func:`join_blocks_cost`. Reveals: nothing beyond shapes.
    """
    lead, trail = lead[:count], trail[:count]
    levels = levels_of(count)
    if not levels:
        return lead.after(scores.columns), trail.after(scores.columns)
    links = _links(ctx.step("links"), linked, single, count, levels)
    joined = []
    for level, link in zip(levels, links, strict=True):
        lead, trail = lead.padded(level.blocks), trail.padded(level.blocks)
        source, outer_lead, outer_trail = _outer(ctx, level, lead, trail, link.same, scores)
        joined.append(_Joined(lead.after(scores.columns), trail.after(scores.columns), source))
        lead, trail = outer_lead, outer_trail
    first, last = lead.after(scores.columns), trail.after(scores.columns)
    inner = _inner(ctx.step("inner"), levels, joined)
    for k in reversed(range(len(levels))):
        answers = inner[k]
        if k + 1 < len(levels):
            answers = _told(ctx.step("tell"), levels[k], links[k], answers, first, last)
        below = count if k == 0 else levels[k - 1].groups
        first, last = _spread(levels[k], answers, first, last, below)
    return first, last


def join_blocks_cost(count: int, numbers: Sequence[Ring], scores: mpc.Scores) -> Cost:
    """Cost of :func:`join_blocks`."""
    levels = levels_of(count)
    if not levels:
        return FREE
    cost = mpc.bit_to_ring_cost(padded(2 * count), RING32)
    pairs = sum(_pairs(level.ends) * level.groups for level in levels)
    cost += mpc.equal_cost(pairs, _number_bits(count))
    cost += mpc.gates_cost(1, sum((level.ends - 2) * level.groups for level in levels))
    for level in levels:
        cost += _outer_cost(level, scores, numbers)
    cost += mpc.multiply_bit_cost(sum((x.ends - 2) * (x.radix - 1) * x.groups for x in levels), numbers)
    for level in levels[:-1]:
        cost += mpc.select_sum_cost((level.ends - 2) * level.groups, 2, numbers)
    return cost


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


def _number_bits(count: int) -> int:
    """Bits that tell all segments and all padding blocks apart."""
    return (2 * count + (RADIX + 1) * len(levels_of(count))).bit_length()


def _links(ctx: Context, linked: Bits, single: Bits, count: int, levels: Sequence[_Level]) -> list[_Links]:
    """Which ends lie in one segment, for all levels at once: segments are numbered and the numbers compared."""
    bits = linked.riffled(single, count)
    ends = (
        mpc.public(ctx, np.ones(2 * count, np.uint32), RING32)
        - mpc.bit_to_ring(ctx.step("bit"), bits, RING32)[: 2 * count]
    )
    numbers = ends.prefix_sum()
    first, last = numbers[0::2], numbers[1::2]
    unused = 2 * count + 1
    differences = []
    for level in levels:
        extra = level.blocks - len(first)
        if extra:
            fresh = mpc.public(ctx, np.arange(unused, unused + extra, dtype=np.uint32), RING32)
            first, last = (Numbers.concatenate([side, fresh]) for side in (first, last))
            unused += extra
        both = Numbers.concatenate([first, last])
        low, high = np.triu_indices(level.ends, 1)
        differences.append(both[_places(level, low)] - both[_places(level, high)])
        first, last = first[0 :: level.radix], last[level.radix - 1 :: level.radix]
    equal = mpc.is_zero(ctx.step("equal"), Numbers.concatenate(differences), _number_bits(count))
    same, to_first, to_last, start = [], [], [], 0
    for level in levels:
        x, _, stand_in = _stand_ins(level.radix)
        table, inner = _pair_numbers(level.ends), np.arange(1, level.ends - 1)
        same.append(equal.take(start + _in_groups(level, table[x, stand_in]).reshape(level.radix - 1, -1)))
        to_first.append(start + _in_groups(level, table[inner, 0]))
        to_last.append(start + _in_groups(level, table[inner, level.ends - 1]))
        start += _pairs(level.ends) * level.groups
    near, far = (equal.take(np.concatenate(index)[None]) for index in (to_first, to_last))
    only_last = mpc.bit_and(ctx.step("only"), mpc.bit_not(ctx, near), far)
    links, start = [], 0
    for bits, index in zip(same, to_first, strict=True):
        own = np.arange(start, start + len(index))[None]
        links.append(_Links(bits, near.take(own), only_last.take(own)))
        start += len(index)
    return links


@dataclass(frozen=True, slots=True)
class _Unbeaten:
    """A circuit from per slot whether the stand-in beats the end, and whether it is in its segment, to ``parts``, whose
    product says that nothing beats the end; and a circuit from the parts of all stand-ins, and from whether they are
    in the end's segment, to ``holders``: whether they hold its best item."""

    circuit: mpc.Circuit
    parts: list[mpc.Formula]
    source: mpc.Circuit
    holders: list[mpc.Formula]


@lru_cache(maxsize=64)
def _unbeaten(slots: int) -> _Unbeaten:
    wiring = mpc.Wiring()
    beats, same = wiring.inputs(slots), wiring.inputs(slots)
    unbeaten = wiring.stage([~(beat & together) for beat, together in zip(beats, same, strict=True)])
    parts = mpc.product_tree(wiring, unbeaten, mpc.radices_for(slots, _TOGETHER))
    source = mpc.Wiring()
    by_part, same = [source.inputs(slots) for _ in parts], source.inputs(slots)
    holders = source.stage([mpc.product([same[slot], *(part[slot] for part in by_part)]) for slot in range(slots)])
    return _Unbeaten(wiring.circuit(), parts, source.circuit(), holders)


@dataclass(frozen=True, slots=True)
class _Moves:
    """For some ends of every group: their own columns, and per other block what changes if that one answers, slot
    by slot."""

    slots: int
    own: Columns
    changes: Columns

    def answers(self, moved: Columns) -> Columns:
        """The ends' columns after the changes that apply, given as :attr:`changes` times bits."""
        return self.own + moved.sums(self.slots)


def _moves(level: _Level, both: Columns, ends: slice) -> _Moves:
    """The moves of some ends, flat: slot by slot, one item per group. ``both`` are all leads, then all trails."""
    slots = level.radix - 1
    x, _, stand_in = (v.reshape(slots, level.ends)[:, ends] for v in _stand_ins(level.radix))
    own, others = _places(level, x[0]), _places(level, stand_in.reshape(-1))
    return _Moves(slots, both[own], both[others] - both[np.tile(own, slots)])


def _outer(
    ctx: Context, level: _Level, lead: Columns, trail: Columns, same: Bits, scores: mpc.Scores
) -> tuple[Bits, Columns, Columns]:
    """Per slot and end whether the stand-in holds the best item of the end's segment in the group, and every group's
    lead and trail. One party deals, so that bits can move between the circuits."""
    slots, groups = level.radix - 1, level.groups
    x, block, stand_in = _stand_ins(level.radix)
    low, high = np.triu_indices(level.radix, 1)
    a, b = (_places(level, 2 * blocks) for blocks in (low, high))
    first, second = (Columns.of([side.column(k) for k in range(scores.columns)]) for side in (trail, lead))
    sign = mpc.score_sign(ctx, first[a], second[b], scores, single_dealer=True)
    sign_bit = mpc.sign_circuit(sign.chunks, as_bit=True)
    assert sign_bit.found is not None
    less = sign.evaluation(ctx.step("less"), sign_bit.circuit)
    # A later block beats an earlier one if that is less, an earlier one a later one unless it is less.
    pairs = _in_groups(level, _pair_numbers(level.radix)[x // 2, block]).reshape(slots, -1)
    flipped = pack_rows(np.repeat(block < x // 2, groups).reshape(slots, -1).astype(np.uint8))
    unbeaten, ends = _unbeaten(slots), mpc.dealer_blocks(level.ends * groups, single_dealer=True)
    beats = mpc.LaterInputs(less, [sign_bit.found], partial(take_bits, index=pairs), same, flipped)
    best = mpc.Evaluation(ctx.step("best"), unbeaten.circuit, beats, ends)
    winners = _in_groups(level, stand_in).reshape(slots, -1)
    held = mpc.LaterInputs(best, unbeaten.parts, partial(take_bits, index=winners), same)
    source = mpc.Evaluation(ctx.step("source"), unbeaten.source, held, ends)
    both, selections, owns = Columns.concatenate([lead, trail]), [], []
    for end in (0, level.ends - 1):
        moves, own = _moves(level, both, slice(end, end + 1)), np.arange(groups)[None] + end * groups
        selection = mpc.Selection(ctx.step("outer"), moves.changes, slots, single_dealer=True)
        selections.append(mpc.SelectByRow(unbeaten.holders, selection, partial(take_bits, index=own)))
        owns.append(moves.own)
    changes = mpc.evaluate_and_select(ctx, [less, best, source], selections)
    outer_lead, outer_trail = (own + change for own, change in zip(owns, changes, strict=True))
    return source.last_rows(), outer_lead, outer_trail


def _outer_cost(level: _Level, scores: mpc.Scores, numbers: Sequence[Ring]) -> Cost:
    """Cost of :func:`_outer`; all its parts are dealt in one round, and both selections answer in one."""
    pairs, slots = _pairs(level.radix) * level.groups, level.radix - 1
    circuit = mpc.sign_circuit(mpc.sign_chunks(pairs, scores.bits + 1), as_bit=True).circuit
    cost = mpc.score_sign_cost(pairs, scores, single_dealer=True)
    cost += mpc.gated_cost(pairs, scores.bits + 1, circuit, single_dealer=True)
    for own in (_unbeaten(slots).circuit, _unbeaten(slots).source):
        cost += mpc.circuit_cost(level.ends * level.groups, own, single_dealer=True).along(1)
    selected = mpc.select_sum_cost(level.groups, slots, [*scores.rings, *numbers], single_dealer=True)
    return cost + selected.along(1) + selected.along()


def _inner(ctx: Context, levels: Sequence[_Level], joined: Sequence[_Joined]) -> list[Columns]:
    """For all levels at once, per inner end the answer inside its group."""
    parts = [
        _moves(level, Columns.concatenate([join.lead, join.trail]), slice(1, level.ends - 1))
        for level, join in zip(levels, joined, strict=True)
    ]
    bits = [
        join.source.take(np.arange(level.groups, (level.ends - 1) * level.groups)[None])
        for level, join in zip(levels, joined, strict=True)
    ]
    moved = mpc.select_columns(ctx, [Bits.flat(bits)], Columns.concatenate([part.changes for part in parts]))
    answers, start = [], 0
    for part in parts:
        stop = start + len(part.changes)
        answers.append(part.answers(moved[start:stop]))
        start = stop
    return answers


def _told(ctx: Context, level: _Level, links: _Links, inner: Columns, first: Columns, last: Columns) -> Columns:
    """The inner ends' answers once those of the group's first and last end are known."""
    groups = np.tile(np.arange(level.groups), level.ends - 2)
    changes = Columns.concatenate([first[groups], last[groups]]) - Columns.concatenate([inner, inner])
    return inner + mpc.select_columns(ctx, [links.to_first, links.to_last], changes)


def _spread(level: _Level, inner: Columns, first: Columns, last: Columns, count: int) -> tuple[Columns, Columns]:
    """The answers of all groups' ends as those of the ``count`` blocks' first and last items."""
    ends = Columns.concatenate([first, inner, last])
    # Ends are stored one after the other, each for all groups.
    block, group = np.arange(count) % level.radix, np.arange(count) // level.radix
    starts, stops = (ends[(2 * block + side) * level.groups + group] for side in (0, 1))
    return starts, stops


def _places(level: _Level, ends: Index) -> Index:
    """Where the given ends of all groups stand in columns of all leads and then all trails."""
    group = np.arange(level.groups)
    places: Index = ((ends % 2 * level.blocks + ends // 2)[:, None] + group * level.radix).reshape(-1)
    return places


def _in_groups(level: _Level, numbers: Index) -> Index:
    """The places of rows of one item per group, laid end to end."""
    places: Index = (numbers[:, None] * level.groups + np.arange(level.groups)).reshape(-1)
    return places
