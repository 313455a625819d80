"""The best feature at every place: a tournament, and for a single sum (two classes, regression) a shorter way.

Splitting a node of s rows that sum up to s1 after u rows that sum up to u1 has the score (constants of the node aside)
D²/(u·w) with D = s·u1 - u·s1 and w = s - u. At one place s, s1, u and w are the same for all attributes, so the best
attribute has the largest |D|, and that is the one with the largest or the smallest u1. Two tournaments of short numbers
find both, and the sign of D_max + D_min says which one it is. Of equal |D| the lowest attribute wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..oblivious.packed import choose_rows, end_to_end, span
from ..primitives import Cost, and_summands, bit_and, bit_not, bit_to_ring, multiply_unshared, product_sign, select
from ..primitives.carry import carry_joins, radices_for
from ..primitives.circuit import Circuit, Output, circuit_cost, evaluate
from ..primitives.cost import few
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, public_bits
from ..sharing.ring import Words


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
    if len(contenders) == 1:
        return contenders[0]
    valid = [contender.valid for contender in contenders]
    field = _Field([contender.keys for contender in contenders], valid, _Tags([c.tag for c in contenders]))
    both: BinaryShare | None = bit_and(ctx.step("both"), *_partners(valid))
    while both is not None:
        field, both = _meet(ctx, field, both, less)
    own = field.tags.summands(ctx.step("tag"))
    (tag,) = field.tags.chosen(own, ctx.pass_left(own))
    return Contender(field.keys[0], tag, field.valid[0])


@dataclass(frozen=True, slots=True)
class _Tags:
    """The tags of a level's field. Those of the winners of pairs are chosen one level later, when words may go along
    with a round: nothing waits for them."""

    rest: list[BinaryShare]
    length: int = 0
    wins: BinaryShare | None = None
    first: BinaryShare | None = None
    second: BinaryShare | None = None

    def summands(self, ctx: Context) -> Words:
        """This party's summands of what changes in the first ones' tags."""
        if self.wins is None or self.first is None or self.second is None:
            return np.empty((0, 0), np.uint64)
        return and_summands(ctx, BinaryShare.stack([self.wins] * self.first.rows), self.first ^ self.second)

    def chosen(self, own: Words, passed: Words) -> list[BinaryShare]:
        """All tags, of ``length`` items each, once the summands have been passed on."""
        if self.first is None:
            return self.rest
        tag = self.first ^ BinaryShare(own, passed, self.first.count)
        return [*_cut_row(tag, tag.count // self.length), *self.rest]


@dataclass(frozen=True, slots=True)
class _Field:
    """Who is left: keys, where they are valid, their tags."""

    keys: list[list[ArithmeticShare]]
    valid: list[BinaryShare]
    tags: _Tags


def _partners(valid: Sequence[BinaryShare]) -> tuple[BinaryShare, BinaryShare]:
    """The first and the second ones of all pairs, each end to end."""
    paired = len(valid) // 2 * 2
    return end_to_end(valid[0:paired:2]), end_to_end(valid[1:paired:2])


def _meet(ctx: Context, field: _Field, both: BinaryShare, less: Less) -> tuple[_Field, BinaryShare | None]:
    """All pairs of a level at once. ``both`` says where both partners are valid; the next level's comes along, since
    who is valid does not depend on who wins."""
    paired = len(field.valid) // 2 * 2
    a, b = ([ArithmeticShare.concatenate(k) for k in zip(*field.keys[side:paired:2], strict=True)] for side in (0, 1))
    valid_a, valid_b = _partners(field.valid)
    valid = valid_a ^ valid_b ^ both
    lower = less(ctx.step("less"), a, b)
    following = [*_cut_row(valid, paired // 2), *field.valid[paired:]]
    x, y = both, lower
    if len(following) > 1:
        first_ones, second_ones = _partners(following)
        x, y = end_to_end([both, first_ones]), end_to_end([lower, second_ones])
    # The second one wins where it alone is valid, or where both are and the first is lower.
    alone = valid_b ^ both
    wins, gates = and_summands(ctx.step("wins"), both, lower) ^ alone.left, and_summands(ctx.step("gate"), x, y)
    earlier = field.tags.summands(ctx.step("tag"))
    changes = [key_b - key_a for key_a, key_b in zip(a, b, strict=True)]
    passing = np.concatenate([gates.reshape(-1), earlier.reshape(-1)])
    moved, passed = multiply_unshared(ctx.step("choose"), wins[0], changes, passing)
    shared = BinaryShare(gates, passed[: gates.size].reshape(gates.shape), x.count)
    tags = field.tags.chosen(earlier, passed[gates.size :].reshape(earlier.shape))
    second_wins = alone ^ span(shared, 0, both.count)
    ahead = span(shared, both.count, x.count) if len(following) > 1 else None
    keys = [key + change for key, change in zip(a, moved, strict=True)]
    first, second = (_wide_tags(tags[side:paired:2]) for side in (0, 1))
    left = _Field(
        [*_cut_keys(keys, paired // 2), *field.keys[paired:]],
        following,
        _Tags(tags[paired:], tags[0].count, second_wins, first, second),
    )
    return left, ahead


def _cut_keys(keys: list[ArithmeticShare], parts: int) -> list[list[ArithmeticShare]]:
    count = len(keys[0]) // parts
    return [[key[k * count : (k + 1) * count] for key in keys] for k in range(parts)]


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
    """The bit a < b of numbers given as rows of bits, lowest first. Cost: :func:`tag_less_cost`."""
    same = bit_not(ctx, a ^ b)
    return evaluate(ctx, _tag_circuit(a.rows, few(a.count)), BinaryShare.stack([bit_not(ctx, a), b, same]))


@lru_cache(maxsize=64)
def _tag_circuit(rows: int, hurry: bool) -> Circuit:
    """From rows of not a, of b and of whether they are the same to the carry that says a < b."""
    size, radix = (4, 4) if hurry else (2, 3)
    stage: list[Output] = []
    g, p = [], []
    for low in range(0, rows, size):
        part = range(low, min(rows, low + size))
        g.append(3 * rows + len(stage))
        stage.append(tuple((k, rows + k, *(2 * rows + j for j in part if j > k)) for k in part))
        p.append(3 * rows + len(stage))
        if low:
            stage.append((tuple(2 * rows + j for j in part),))
    if len(g) == 1:
        return Circuit(3 * rows, [stage])
    joins = carry_joins(g, p, radices_for(len(g), radix), 3 * rows + len(stage))
    return Circuit(3 * rows, [stage, *joins.stages, [joins.last]])


def tag_less_cost(count: int, rows: int) -> Cost:
    """Cost of :func:`tag_less`."""
    return circuit_cost(count, _tag_circuit(rows, few(count)))


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
