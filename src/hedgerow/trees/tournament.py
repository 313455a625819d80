"""The best feature at every place: a tournament, and for a single sum (two classes, regression) a shorter way.

Splitting a node of s rows that sum up to s1 after u rows that sum up to u1 has the score (constants of the node aside)
D²/(u·w) with D = s·u1 - u·s1 and w = s - u. At one place s, s1, u and w are the same for all attributes, so the best
attribute has the largest |D|, and that is the one with the largest or the smallest u1. Two tournaments of short numbers
find both, and the sign of D_max + D_min says which one it is. Of equal |D| the lowest attribute wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious.packed import choose_rows, end_to_end, rows_of, span
from ..primitives import and_summands, bit_and, bit_not, bit_to_ring, multiply_unshared, product_sign, select
from ..primitives.carry import carry_out
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, public_bits


@dataclass(frozen=True, slots=True)
class Contender:
    """Per place: the columns of the key to maximise, the feature's code as rows of bits, whether it is a candidate."""

    keys: list[ArithmeticShare]
    tag: BinaryShare
    valid: BinaryShare


def attribute_tag(ctx: Context, code: int, rows: int, count: int) -> BinaryShare:
    """A public code as rows of equal bits."""
    bits = [(~np.uint64(0) if code >> k & 1 else np.uint64(0)) for k in range(rows)]
    return public_bits(ctx, np.repeat(np.array(bits, np.uint64)[:, None], count // 64, axis=1), count)


Less = Callable[[Context, list[ArithmeticShare], list[ArithmeticShare]], BinaryShare]
"""Compares the keys of two contenders."""


def tournament(ctx: Context, contenders: Sequence[Contender], less: Less) -> Contender:
    """The contender with the highest key among the valid ones; of equal keys the first.

    Cost: per pair and place one comparison, one selection, a few gates; ⌈log m⌉ levels. Reveals: nothing beyond shapes.
    """
    field = list(contenders)
    if len(field) == 1:
        return field[0]
    both: BinaryShare | None = bit_and(ctx.step("both"), *_partners([c.valid for c in field]))
    while both is not None:
        field, both = _meet(ctx, field, both, less)
    return field[0]


def _partners(valid: Sequence[BinaryShare]) -> tuple[BinaryShare, BinaryShare]:
    """The first and the second ones of all pairs, each end to end."""
    paired = len(valid) // 2 * 2
    return end_to_end(valid[0:paired:2]), end_to_end(valid[1:paired:2])


def _meet(
    ctx: Context, field: Sequence[Contender], both: BinaryShare, less: Less
) -> tuple[list[Contender], BinaryShare | None]:
    """All pairs of a level at once. ``both`` says where both partners are valid; the next level's comes along, since
    who is valid does not depend on who wins."""
    pairs = len(field) // 2
    first, second = field[0 : 2 * pairs : 2], field[1 : 2 * pairs : 2]
    a, b = ([ArithmeticShare.concatenate(k) for k in zip(*(c.keys for c in s), strict=True)] for s in (first, second))
    valid_a, valid_b = _partners([c.valid for c in field])
    valid = valid_a ^ valid_b ^ both
    lower = less(ctx.step("less"), a, b)
    following = [*_cut_row(valid, pairs), *(c.valid for c in field[2 * pairs :])]
    x, y = both, lower
    if len(following) > 1:
        first_ones, second_ones = _partners(following)
        x, y = end_to_end([both, first_ones]), end_to_end([lower, second_ones])
    # The second one wins where it alone is valid, or where both are and the first is lower.
    alone = valid_b ^ both
    wins, gates = and_summands(ctx.step("wins"), both, lower) ^ alone.left, and_summands(ctx.step("gate"), x, y)
    changes = [key_b - key_a for key_a, key_b in zip(a, b, strict=True)]
    moved, passed = multiply_unshared(ctx.step("choose"), wins[0], changes, gates)
    shared = BinaryShare(gates, passed, x.count)
    second_wins = alone ^ span(shared, 0, both.count)
    ahead = span(shared, both.count, x.count) if len(following) > 1 else None
    keys = [x + change for x, change in zip(a, moved, strict=True)]
    tag_a, tag_b = (_wide_tags([c.tag for c in side]) for side in (first, second))
    tag = choose_rows(ctx.step("tag"), second_wins, tag_b, tag_a)
    return [*cut_contender(Contender(keys, tag, valid), pairs), *field[2 * pairs :]], ahead


def _cut_row(row: BinaryShare, parts: int) -> list[BinaryShare]:
    count = row.count // parts
    return [span(row, k * count, (k + 1) * count) for k in range(parts)]


def cut_contender(joined: Contender, parts: int) -> list[Contender]:
    """Contenders that were laid end to end, one by one again."""
    count = len(joined.valid) // parts
    bounds = [(k * count, (k + 1) * count) for k in range(parts)]
    return [
        Contender([key[a:b] for key in joined.keys], span(joined.tag, a, b), span(joined.valid, a, b))
        for a, b in bounds
    ]


def _wide_tags(tags: Sequence[BinaryShare]) -> BinaryShare:
    left = np.concatenate([tag.left for tag in tags], axis=1)
    right = np.concatenate([tag.right for tag in tags], axis=1)
    return BinaryShare(left, right, sum(tag.count for tag in tags))


def tag_less(ctx: Context, a: BinaryShare, b: BinaryShare) -> BinaryShare:
    """The bit a < b of numbers given as rows of bits, lowest first."""
    generate = bit_and(ctx.step("generate"), bit_not(ctx, a), b)
    if a.rows == 1:
        return generate
    propagate = bit_not(ctx, a ^ b)
    return carry_out(ctx.step("carry"), BinaryShare.stack([generate, rows_of(propagate, 1, a.rows)]), a.rows)


def choose_extreme(
    ctx: Context,
    highest: Contender,
    lowest: Contender,
    size: ArithmeticShare,
    share: ArithmeticShare,
    bits: int,
) -> tuple[ArithmeticShare, BinaryShare]:
    """u1 and tag of the better of the two extremes; keys are u1 itself here, in 2^64.

    ``size`` is s and ``share`` u·s1; D_max + D_min = s·(u1_max + u1_min) - 2·u·s1 has at most ``bits`` bits: where it
    is negative the lowest is farther away from the mean, where it is zero the lower attribute wins.
    """
    extremes = highest.keys[0] + lowest.keys[0]
    earlier = bit_to_ring(ctx.step("bit"), tag_less(ctx.step("earlier"), lowest.tag, highest.tag), RING64)
    take_lowest = product_sign(ctx.step("sign"), [size], [extremes.scale(2)], bits + 2, -(share.scale(4) + earlier))
    (key,) = select(ctx.step("choose"), take_lowest, lowest.keys, highest.keys)
    return key, choose_rows(ctx.step("tag"), take_lowest, lowest.tag, highest.tag)
