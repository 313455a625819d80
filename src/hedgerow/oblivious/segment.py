"""The best item of every segment, told to all of the segment's items; segments are secret.

A binary tree over the items. Every block of the tree knows its *lead*, the best item of the segment its first item
belongs to (as far as it lies in the block), its *trail*, the same for its last item, and whether it is a *single*
segment. Two blocks join with one comparison: the left one's trail against the right one's lead. On the way down every
block learns the final answers for its first and its last item; that takes selections only. So n items cost n
comparisons, not n·log n, and no second sweep of comparisons. The last blocks are joined in groups, several at once (see
:mod:`.blocks`), which costs comparisons and saves rounds: how many blocks is a parameter, the tree's fan-in at the top.

Scores are fractions p/q. Of equal scores the earlier item wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..primitives import (
    Cost,
    and_summands,
    bit_and,
    bit_not,
    gates_cost,
    multiply_bit_cost,
    multiply_unshared,
    multiply_unshared_cost,
    select,
    select_sum,
    select_sum_cost,
)
from ..primitives.cost import FREE
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, Ring, public_bits
from ..sharing.ring import Words
from .blocks import join_blocks, join_blocks_cost
from .packed import end_to_end, every_other, pack_rows, pad, padded, span
from .score import Items, Numbers, less_score, less_score_cost, riffled

FAN_IN = 1280
"""Blocks joined in groups, not two by two, on a fast network; see docs/adr/0003-fast-trainer.md."""


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


def segment_best(ctx: Context, items: Items, starts: BinaryShare, cross_bits: int, fan_in: int = FAN_IN) -> Numbers:
    """For every item the ``numbers`` of its segment's best item.

    ``starts`` flags the first item of every segment. Vectors have a multiple of 64 items.

    Paper: replaces HIKC23's GroupMax. Cost: about n comparisons of ``cross_bits`` bits, 2n selections of items on the
    way up and n of numbers on the way down; a level takes the comparison's rounds and five more; about 4·fan_in
    comparisons for the last ``fan_in`` blocks; exactly :func:`segment_best_cost`. Reveals: nothing beyond shapes.
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
        length = len(left_lead.p)
        ones_, zeros = _joined(right_lead.columns, left_trail.columns), _joined(left_lead.columns, right_trail.columns)
        chosen, ahead = _decide(ctx.step("decide"), ahead, less, ones_, zeros, count if more else None)
        lead, trail = Items.of([x[:length] for x in chosen]), Items.of([x[length:] for x in chosen])
    first, last = join_blocks(ctx.step("top"), lead, trail, flags.linked, flags.single, count, cross_bits)
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
    third = gates.count // 3
    reach, single, whole = (span(gates, k * third, (k + 1) * third) for k in range(3))
    return _Ahead(left, right, reach, _Flags(single, left.linked, whole))


def _look_ahead(ctx: Context, flags: _Flags, count: int) -> _Ahead:
    left, right, x, y = _ahead_gates(flags, count)
    return _ahead_of(left, right, bit_and(ctx, x, y))


def _first_bits(count: int, words: int) -> Words:
    """A public mask of the first ``count`` of ``64 * words`` places."""
    return pack_rows((np.arange(64 * words) < count).astype(np.uint8)[None])


def _decide(
    ctx: Context, ahead: _Ahead, less: BinaryShare, ones: Numbers, zeros: Numbers, following: int | None
) -> tuple[Numbers, _Ahead | None]:
    """``ones`` where the right lead reaches the joint block's first item, then where the left trail reaches its last,
    end to end, else ``zeros``; in the same rounds the look ahead at the next level of ``following`` blocks.

    The lead changes if the left block is single, the joint linked and the right lead better; the trail changes if the
    right block is single, the joint linked and the right lead not better.
    """
    x = end_to_end([ahead.reach, ahead.right.whole])
    y = end_to_end([less, bit_not(ctx, less)])
    join = and_summands(ctx.step("join"), x, y)[0]
    passing = np.empty((1, 0), np.uint64)
    if following is not None:
        left, right, more_x, more_y = _ahead_gates(ahead.joined, following)
        passing = and_summands(ctx.step("ahead"), more_x, more_y)
    changes = [a - b for a, b in zip(ones, zeros, strict=True)]
    moved, passed = multiply_unshared(ctx.step("choose"), join, changes, passing)
    chosen = [b + change for b, change in zip(zeros, moved, strict=True)]
    if following is None:
        return chosen, None
    return chosen, _ahead_of(left, right, BinaryShare(passing, passed, more_x.count))


def _stack(*parts: BinaryShare) -> BinaryShare:
    return BinaryShare.stack(parts)


def _halves(items: Items, count: int) -> tuple[Items, Items]:
    length = padded((count + 1) // 2)
    even, odd = ([pad(x[side:count:2], length) for x in items.columns] for side in (0, 1))
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
        first, last = riffled(first, right, joint.count), riffled(left, last, joint.count)
    return riffled(first, last, joints[0].count)


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
        middles.append((span(single, start, stop), span(far, start, stop), [x[start:stop] for x in numbers]))
        start = stop
    return middles


def segment_best_cost(
    count: int, numbers: Sequence[Ring], cross_bits: int, fan_in: int = FAN_IN, score: Ring = RING64
) -> Cost:
    """Cost of :func:`segment_best` for ``count`` items, a multiple of 64; numerators live in the ring ``score``."""
    columns = [score, RING64, *numbers]
    cost = FREE
    halves: list[int] = []
    if count > max(1, fan_in):
        cost += gates_cost(1, 3 * padded((count + 1) // 2))
    while count > max(1, fan_in):
        half = padded((count + 1) // 2)
        halves.append(half)
        count = (count + 1) // 2
        ahead = 3 * padded((count + 1) // 2) if count > max(1, fan_in) else 0
        cost += less_score_cost(half, cross_bits, score) + multiply_unshared_cost(2 * half, columns, ahead // 64)
    cost += join_blocks_cost(count, numbers, cross_bits, score)
    if len(halves) > 1:
        total = 2 * sum(halves[1:])
        cost += gates_cost(2, total) + gates_cost(1, total) + multiply_bit_cost(total, numbers)
        for half in halves[1:]:
            cost += select_sum_cost(2 * half, 2, numbers)
    return cost
