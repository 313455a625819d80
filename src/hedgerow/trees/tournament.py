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

from ..oblivious.packed import choose_rows, end_to_end, padded, span
from ..primitives import Cost, bit_not, bit_to_ring, multiply_bit_cost, product_sign, select
from ..primitives.carry import Chunks, carry_joins, radices_for
from ..primitives.choose import Chosen, choose
from ..primitives.circuit import Circuit, Evaluation, Output, SharedInputs, circuit_cost, evaluate
from ..primitives.columns import Columns
from ..primitives.compare import Sign, gated_cost, sign_chunks, sign_joins, times
from ..primitives.cost import few, thirds_of
from ..primitives.select import Selection
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, Ring, public_bits

PAIRS = 1 << 21
"""Pairs that meet at once in the first level of tournaments."""


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


Less = Callable[[Context, list[ArithmeticShare], list[ArithmeticShare], list[ArithmeticShare]], Sign]
"""Compares the keys of two contenders, with their differences at hand: whether the first one's are lower, about to be
found."""


def tournament(ctx: Context, contenders: Sequence[Contender], less: Less) -> Contender:
    """The contender with the highest key among the valid ones; of equal keys the first.

    Cost: for the places of each of :func:`place_blocks`, :func:`meet_cost` of ⌈log m⌉ levels, and of the gates before
    the first. Reveals: nothing beyond shapes.
    """
    if len(contenders) == 1:
        return contenders[0]
    blocks = place_blocks(contenders[0].valid.count, len(contenders))
    if len(blocks) == 1:
        return _tournament(ctx, list(contenders), less)
    best = [_tournament(ctx, [_between(contender, *block) for contender in contenders], less) for block in blocks]
    keys = [ArithmeticShare.concatenate(parts) for parts in zip(*(part.keys for part in best), strict=True)]
    return Contender(keys, _side_by_side([part.tag for part in best]), _side_by_side([part.valid for part in best]))


def place_blocks(count: int, contenders: int) -> list[tuple[int, int]]:
    """The places whose tournaments are held at the same time, about equally many; that bounds the memory."""
    number = -(-count * (contenders // 2) // PAIRS)
    block = padded(-(-count // number))
    return [(start, min(count, start + block)) for start in range(0, count, block)]


def _between(contender: Contender, start: int, stop: int) -> Contender:
    """A contender at some of the places."""
    keys = [key[start:stop] for key in contender.keys]
    return Contender(keys, span(contender.tag, start, stop), span(contender.valid, start, stop))


def _tournament(ctx: Context, field: list[Contender], less: Less) -> Contender:
    both: BinaryShare | None = evaluate(ctx.step("both"), _both_circuit(), BinaryShare.stack(_partners(field)))
    while both is not None:
        field, both = _meet(ctx, field, both, less)
    return field[0]


def _partners(field: Sequence[Contender]) -> tuple[BinaryShare, BinaryShare]:
    """Where the first and the second ones of all pairs are valid, each end to end."""
    paired = len(field) // 2 * 2
    first, second = ([contender.valid for contender in field[side:paired:2]] for side in (0, 1))
    return end_to_end(first), end_to_end(second)


@lru_cache(maxsize=1)
def _both_circuit() -> Circuit:
    return Circuit(2, [[((0, 1),)]])


@lru_cache(maxsize=64)
def _meet_circuit(chunks: Chunks, tags: int) -> Circuit:
    """From a sign, where both are valid, where the second one alone is, and how their tags differ: whether the second
    one wins, and how the first one's tag changes.

    The second one wins where it alone is valid, or where both are and the first is lower.
    """
    joins = sign_joins(chunks, 2 + tags)
    both, alone, first = joins.shared, joins.shared + 1, joins.shared + 2
    wins = joins.fresh
    changes: list[Output] = [((wins, first + k),) for k in range(tags)]
    return Circuit(joins.inputs, [*joins.stages, [((alone,), *times(both, joins.sign))], changes])


def _meet(
    ctx: Context, field: Sequence[Contender], both: BinaryShare, less: Less
) -> tuple[list[Contender], BinaryShare | None]:
    """All pairs of a level at once. ``both`` says where both partners are valid; the next level's comes along, since
    who is valid does not depend on who wins."""
    paired = len(field) // 2 * 2
    keys = [contender.keys for contender in field]
    a, b = ([ArithmeticShare.concatenate(k) for k in zip(*keys[side:paired:2], strict=True)] for side in (0, 1))
    first, second = (_side_by_side([contender.tag for contender in field[side:paired:2]]) for side in (0, 1))
    valid_a, valid_b = _partners(field)
    valid = _cut_row(valid_a ^ valid_b ^ both, paired // 2)
    differences = [key_a - key_b for key_a, key_b in zip(a, b, strict=True)]
    sign = less(ctx.step("less"), a, b, differences)
    circuit = _meet_circuit(sign.chunks, first.rows)
    shared = BinaryShare.stack([both, valid_b ^ both, first ^ second])
    evaluation = sign.evaluation(ctx.step("wins"), circuit, shared)
    wins, start, stop = circuit.bounds[-3:]
    selection = Selection(ctx.step("choose"), Columns.of(differences))
    left = [Contender([], first, bits) for bits in valid] + list(field[paired:])
    ahead: list[Evaluation] = []
    if len(left) > 1:
        rows = BinaryShare.stack(_partners(left))
        ahead = [Evaluation(ctx.step("both"), _both_circuit(), SharedInputs(rows), thirds_of(rows.count))]
    (moved,) = choose(ctx.step("wins"), [evaluation], [Chosen(slice(wins, start), selection)], ahead, after=1)
    winning = [key - lead for key, lead in zip(a, moved.list(), strict=True)]
    tags = _cut_row(first ^ evaluation.rows(start, stop), paired // 2)
    for k, own in enumerate(_cut_keys(winning, paired // 2)):
        left[k] = Contender(own, tags[k], valid[k])
    return left, ahead[0].rows(2, 3) if ahead else None


def meet_cost(count: int, bits: int, tags: int, keys: Sequence[Ring], ahead: int) -> Cost:
    """Cost of a level of ``count`` pairs that are compared by signs of ``bits`` bits, without what comes before the
    sign's circuit; ``ahead`` pairs meet in the next level."""
    cost = gated_cost(count, bits, _meet_circuit(sign_chunks(count, bits), tags))
    cost += multiply_bit_cost(count, keys).along()
    return cost + both_cost(ahead).along() if ahead else cost


def both_cost(count: int) -> Cost:
    """Cost of finding out where both partners of so many pairs are valid."""
    return circuit_cost(count, _both_circuit())


def _cut_keys(keys: list[ArithmeticShare], parts: int) -> list[list[ArithmeticShare]]:
    count = len(keys[0]) // parts
    return [[key[k * count : (k + 1) * count] for key in keys] for k in range(parts)]


def _cut_row(row: BinaryShare, parts: int) -> list[BinaryShare]:
    count = row.count // parts
    return [span(row, k * count, (k + 1) * count) for k in range(parts)]


def cut_contender(joined: Contender, parts: int) -> list[Contender]:
    """Contenders that were laid end to end, one by one again."""
    count = len(joined.valid) // parts
    return [_between(joined, k * count, (k + 1) * count) for k in range(parts)]


def _side_by_side(parts: Sequence[BinaryShare]) -> BinaryShare:
    """Rows of several parts, each continued by the next part's."""
    left = np.concatenate([part.left for part in parts], axis=1)
    right = np.concatenate([part.right for part in parts], axis=1)
    return BinaryShare(left, right, sum(part.count for part in parts))


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
