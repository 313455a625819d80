"""The best item of every segment, told to all of the segment's items; segments are secret.

A binary tree over the items. Every block of the tree knows its *lead*, the best item of the segment its first item belongs
to (as far as it lies in the block), its *trail*, the same for its last item, and whether it is a *single* segment. Two
blocks join with one comparison: the left one's trail against the right one's lead. On the way down every block learns
the final answers for its first and its last item; that takes selections only. So n items cost n comparisons, not
n·log n, and no second sweep of comparisons.

Scores are fractions p/q. Of equal scores the earlier item wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..primitives import bit_and, bit_not, dot, select, select_sum, top_bit, widen
from ..sharing import RING64, RING128, ArithmeticShare, BinaryShare, Context, public_bits
from .packed import cut, end_to_end, every_other, pad, padded, riffle, rows_of


@dataclass(frozen=True, slots=True)
class Items:
    """Scores with what rides along: ``numbers`` and rows of ``tag`` bits."""

    p: ArithmeticShare
    q: ArithmeticShare
    numbers: list[ArithmeticShare]
    tag: BinaryShare

    @property
    def columns(self) -> list[ArithmeticShare]:
        """All arithmetic columns."""
        return [self.p, self.q, *self.numbers]


@dataclass(frozen=True, slots=True)
class _Joint:
    """What a level keeps for the way down: the two items that met, and the bits that say how."""

    trail: Items
    lead: Items
    left_single: BinaryShare
    right_single: BinaryShare
    opening: BinaryShare
    less: BinaryShare


def _halves(x: ArithmeticShare, count: int) -> tuple[ArithmeticShare, ArithmeticShare]:
    length = padded(count // 2)
    return pad(x[0:count:2], length), pad(x[1:count:2], length)


def _split_items(items: Items, count: int) -> tuple[Items, Items]:
    columns = [_halves(column, count) for column in items.columns]
    even, odd = ([pair[side] for pair in columns] for side in (0, 1))
    tags = [every_other(items.tag, side) for side in (0, 1)]
    return Items(even[0], even[1], even[2:], tags[0]), Items(odd[0], odd[1], odd[2:], tags[1])


def less_score(ctx: Context, a: Items, b: Items, cross_bits: int) -> BinaryShare:
    """The bit p/q < p'/q' by cross products, in 2^64 where they fit and in 2^128 otherwise."""
    p, q, p2, q2 = a.p, a.q, b.p, b.q
    if cross_bits + 1 > RING64.bits:
        n = len(p)
        wide = widen(ctx.step("widen"), ArithmeticShare.concatenate([p, q, p2, q2]), RING128)
        p, q, p2, q2 = (wide[k * n : (k + 1) * n] for k in range(4))
    return top_bit(ctx.step("less"), dot(ctx.step("cross"), [p, -p2], [q2, q]), cross_bits + 1)


def choose(ctx: Context, bit: BinaryShare, if_one: Items, if_zero: Items) -> Items:
    """Whole items by a bit."""
    p, q, *numbers = select(ctx.step("choose"), bit, if_one.columns, if_zero.columns)
    return Items(p, q, numbers, choose_tag(ctx.step("tag"), bit, if_one.tag, if_zero.tag))


def choose_tag(ctx: Context, bit: BinaryShare, if_one: BinaryShare, if_zero: BinaryShare) -> BinaryShare:
    """Rows of bits by a bit: ``if_zero ^ bit & (if_one ^ if_zero)``."""
    repeated = BinaryShare.stack([bit] * if_one.rows)
    return if_zero ^ bit_and(ctx, repeated, if_one ^ if_zero)


def _join_items(a: Items, b: Items) -> Items:
    """Two vectors of items one after the other; tags stay rows."""
    columns = [ArithmeticShare.concatenate(pair) for pair in zip(a.columns, b.columns, strict=True)]
    return Items(columns[0], columns[1], columns[2:], _join_rows(a.tag, b.tag))


def _join_rows(a: BinaryShare, b: BinaryShare) -> BinaryShare:
    left = np.concatenate([a.left, b.left], axis=1)
    right = np.concatenate([a.right, b.right], axis=1)
    return BinaryShare(left, right, a.count + b.count)


def _cut_items(items: Items, length: int) -> tuple[Items, Items]:
    words = length // 64

    def part(start: int, first: int, last: int) -> Items:
        columns = [column[start : start + length] for column in items.columns]
        tag = BinaryShare(items.tag.left[:, first:last], items.tag.right[:, first:last], length)
        return Items(columns[0], columns[1], columns[2:], tag)

    return part(0, 0, words), part(length, words, 2 * words)


def segment_best(
    ctx: Context, items: Items, starts: BinaryShare, cross_bits: int
) -> tuple[list[ArithmeticShare], BinaryShare]:
    """For every item the ``numbers`` and the ``tag`` of its segment's best item.

    ``starts`` flags the first item of every segment. Vectors have a multiple of 64 items.

    Paper: replaces HIKC23's GroupMax. Cost: about n comparisons of ``cross_bits`` bits, 2n selections of items on the way
    up and n of numbers and tags on the way down; 4 + rounds(comparison) + 6 rounds a level. Reveals: nothing beyond
    shapes.
    """
    count = len(items.p)
    lead = trail = items
    single = public_bits(ctx, np.full((1, count // 64), ~np.uint64(0)), count)
    joints: list[tuple[int, _Joint]] = []
    first = starts
    while count > 1:
        (left_lead, right_lead), (left_trail, right_trail) = _split_items(lead, count), _split_items(trail, count)
        left_single, right_single = every_other(single, 0), every_other(single, 1)
        if count % 2 or count // 2 % 64:
            right_single, right_first = _close_padding(ctx, right_single, every_other(first, 1), count // 2)
        else:
            right_first = every_other(first, 1)
        opening = bit_not(ctx, right_first)
        open_both = bit_and(ctx.step("open"), BinaryShare.stack([left_single, right_single]), _twice(opening))
        less = less_score(ctx, left_trail, right_lead, cross_bits)
        factors = BinaryShare.stack([less, bit_not(ctx, less), right_single])
        decided = bit_and(ctx.step("decide"), BinaryShare.stack([open_both, open_both.row(0)]), factors)
        joints.append((count, _Joint(left_trail, right_lead, left_single, right_single, opening, less)))
        length = len(left_lead.p)
        chosen = choose(
            ctx,
            end_to_end([decided.row(0), decided.row(1)]),
            _join_items(right_lead, left_trail),
            _join_items(left_lead, right_trail),
        )
        lead, trail = _cut_items(chosen, length)
        single = decided.row(2)
        first = every_other(first, 0)
        count = (count + 1) // 2
    return _tell(ctx.step("tell"), joints, lead, trail)


def _twice(x: BinaryShare) -> BinaryShare:
    return BinaryShare.stack([x, x])


def _close_padding(
    ctx: Context, single: BinaryShare, first: BinaryShare, real: int
) -> tuple[BinaryShare, BinaryShare]:
    """Make items past ``real`` start segments of their own, so that padding never joins anything."""
    ones = np.zeros((1, single.left.shape[1]), np.uint64)
    bits = np.zeros(64 * ones.size, np.uint8)
    bits[real:] = 1
    ones.view(np.uint8)[0] = np.packbits(bits, bitorder="little")
    kept = BinaryShare(first.left & ~ones, first.right & ~ones, first.count)
    return single, kept ^ public_bits(ctx, ones, first.count)


def _tell(
    ctx: Context, joints: Sequence[tuple[int, _Joint]], lead: Items, trail: Items
) -> tuple[list[ArithmeticShare], BinaryShare]:
    """The way down: from the root's answers to every item's."""
    first_numbers, first_tag = lead.numbers, lead.tag
    last_numbers, last_tag = trail.numbers, trail.tag
    for depth, (count, joint) in enumerate(reversed(joints)):
        if depth == len(joints) - 1:
            return _riffled(first_numbers, last_numbers, count), riffle(first_tag, last_tag, count)
        inner = _middle_answers(ctx, joint, first_numbers, first_tag, last_numbers, last_tag)
        (left_last, left_last_tag), (right_first, right_first_tag) = inner
        first_numbers, last_numbers = (
            _riffled(first_numbers, right_first, count),
            _riffled(left_last, last_numbers, count),
        )
        first_tag, last_tag = riffle(first_tag, right_first_tag, count), riffle(left_last_tag, last_tag, count)
        length = padded(count)
        first_numbers, last_numbers = ([pad(x, length) for x in side] for side in (first_numbers, last_numbers))
        first_tag, last_tag = (BinaryShare(tag.left, tag.right, length) for tag in (first_tag, last_tag))
    return first_numbers, first_tag


def _riffled(even: Sequence[ArithmeticShare], odd: Sequence[ArithmeticShare], count: int) -> list[ArithmeticShare]:
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


Answers = tuple[list[ArithmeticShare], BinaryShare]


def _middle_answers(
    ctx: Context,
    joint: _Joint,
    first_numbers: Sequence[ArithmeticShare],
    first_tag: BinaryShare,
    last_numbers: Sequence[ArithmeticShare],
    last_tag: BinaryShare,
) -> tuple[Answers, Answers]:
    """Answers for a left block's last item and a right block's first item.

    If the block is a single segment, its own first or last answer; else, if the joint is open and the other block is
    single, that block's outer answer; else the segment ends inside: the better of the two that met, or its own if cut.
    """
    length = len(joint.trail.p)
    singles = BinaryShare.stack([joint.left_single, joint.right_single])
    swapped = BinaryShare.stack([joint.right_single, joint.left_single])
    outer = bit_and(ctx.step("outer"), BinaryShare.stack([swapped, joint.less]), BinaryShare.stack([joint.opening] * 3))
    outer_bits, less_open = rows_of(outer, 0, 2), outer.row(2)
    far = bit_and(ctx.step("far"), outer_bits, bit_not(ctx, singles))
    not_less_open = joint.opening ^ less_open
    near = end_to_end([less_open, not_less_open])
    met_one = [ArithmeticShare.concatenate(x) for x in zip(joint.lead.numbers, joint.trail.numbers, strict=True)]
    met_zero = [ArithmeticShare.concatenate(x) for x in zip(joint.trail.numbers, joint.lead.numbers, strict=True)]
    middle = select(ctx.step("middle"), near, met_one, met_zero)
    own = [ArithmeticShare.concatenate(x) for x in zip(first_numbers, last_numbers, strict=True)]
    other = [ArithmeticShare.concatenate(x) for x in zip(last_numbers, first_numbers, strict=True)]
    table = [[a - c for a, c in zip(side, middle, strict=True)] for side in (own, other)]
    moved = select_sum(ctx.step("answer"), [end_to_end([singles]), end_to_end([far])], table)
    numbers = [c + d for c, d in zip(middle, moved, strict=True)]
    tags = _middle_tags(ctx, joint, near, singles, far, first_tag, last_tag)
    left = [x[:length] for x in numbers], tags[0]
    right = [x[length:] for x in numbers], tags[1]
    return left, right


def _middle_tags(
    ctx: Context,
    joint: _Joint,
    near: BinaryShare,
    singles: BinaryShare,
    far: BinaryShare,
    first_tag: BinaryShare,
    last_tag: BinaryShare,
) -> tuple[BinaryShare, BinaryShare]:
    """The same choice for tag bits."""
    rows = joint.trail.tag.rows
    length = joint.trail.tag.count
    middle = choose_tag(
        ctx.step("tag1"), near, _join_rows(joint.lead.tag, joint.trail.tag), _join_rows(joint.trail.tag, joint.lead.tag)
    )
    own, other = _join_rows(first_tag, last_tag), _join_rows(last_tag, first_tag)
    bits = BinaryShare.stack([end_to_end([singles])] * rows + [end_to_end([far])] * rows)
    moved = bit_and(ctx.step("tag2"), bits, BinaryShare.stack([own ^ middle, other ^ middle]))
    result = middle ^ rows_of(moved, 0, rows) ^ rows_of(moved, rows, 2 * rows)
    words = length // 64
    left, right = (
        BinaryShare(result.left[:, part], result.right[:, part], length) for part in (slice(0, words), slice(words, None))
    )
    return left, right


__all__ = ["Items", "cut", "segment_best"]
