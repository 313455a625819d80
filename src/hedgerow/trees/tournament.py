"""The best feature at every place: a tournament of keys that a criterion compares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import protocols as mpc
from ..engine import FREE, Context, Cost
from ..shares import Bits, Columns, Numbers, Ring, padded
from .problem import Problem

PAIRS = 1 << 21
"""Pairs that meet at once in the first level of tournaments."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Per place: the columns of the key to maximise, the feature's code as rows of bits, whether it is a candidate."""

    keys: list[Numbers]
    feature: Bits
    valid: Bits


def feature_rows(ctx: Context, code: int, rows: int, count: int) -> Bits:
    """A public code as rows of equal bits."""
    bits = [(~np.uint64(0) if code >> k & 1 else np.uint64(0)) for k in range(rows)]
    return mpc.public_bits(ctx, np.repeat(np.array(bits, np.uint64)[:, None], count // 64, axis=1), count)


Less = Callable[[Context, list[Numbers], list[Numbers], list[Numbers]], mpc.PendingSign]
"""Compares the keys of two contenders, given with their differences: whether the first one's are lower, still to be
found."""


def tournament(ctx: Context, contenders: Sequence[Contender], less: Less) -> Contender:
    """The contender with the highest key among the valid ones; of equal keys the first.

    Cost: :func:`tournament_cost`. Reveals: nothing beyond shapes.
    """
    if len(contenders) == 1:
        return contenders[0]
    blocks = place_blocks(contenders[0].valid.count, len(contenders))
    if len(blocks) == 1:
        return _tournament(ctx, list(contenders), less)
    best = [_tournament(ctx, [_between(contender, *block) for contender in contenders], less) for block in blocks]
    keys = [Numbers.concatenate(parts) for parts in zip(*(part.keys for part in best), strict=True)]
    return Contender(
        keys, Bits.side_by_side([part.feature for part in best]), Bits.side_by_side([part.valid for part in best])
    )


def place_blocks(count: int, contenders: int) -> list[tuple[int, int]]:
    """The places whose tournaments are held at the same time, about equally many; that bounds the memory."""
    number = -(-count * (contenders // 2) // PAIRS)
    block = padded(-(-count // number))
    return [(start, min(count, start + block)) for start in range(0, count, block)]


def _between(contender: Contender, start: int, stop: int) -> Contender:
    """A contender at some of the places."""
    keys = [key[start:stop] for key in contender.keys]
    return Contender(keys, contender.feature.span(start, stop), contender.valid.span(start, stop))


def _tournament(ctx: Context, field: list[Contender], less: Less) -> Contender:
    both: Bits | None = mpc.evaluate(ctx.step("both"), _both_circuit(), Bits.stack(_partners(field)))
    while both is not None:
        field, both = _meet(ctx, field, both, less)
    return field[0]


def _partners(field: Sequence[Contender]) -> tuple[Bits, Bits]:
    """Where the first and the second ones of all pairs are valid, each end to end."""
    paired = len(field) // 2 * 2
    first, second = ([contender.valid for contender in field[side:paired:2]] for side in (0, 1))
    return Bits.end_to_end(first), Bits.end_to_end(second)


@lru_cache(maxsize=1)
def _both_circuit() -> mpc.Circuit:
    wiring = mpc.Wiring()
    first, second = wiring.inputs(2)
    wiring.stage([first & second])
    return wiring.circuit()


@dataclass(frozen=True, slots=True)
class _MeetCircuit:
    """Whether the second one wins, and how the first one's feature changes."""

    circuit: mpc.Circuit
    wins: mpc.Formula
    changes: list[mpc.Formula]


@lru_cache(maxsize=64)
def _meet_circuit(chunks: mpc.Chunks, feature_bits: int) -> _MeetCircuit:
    """From a sign, where both are valid, where the second one alone is, and how their features differ.

    The second one wins where it alone is valid, or where both are and the first is lower.
    """
    wiring = mpc.Wiring()
    less, (both, alone, *differences) = mpc.sign_formula(wiring, chunks, 2 + feature_bits)
    (wins,) = wiring.stage([alone ^ both & less])
    changes = wiring.stage([wins & difference for difference in differences])
    return _MeetCircuit(wiring.circuit(), wins, changes)


def _meet(ctx: Context, field: Sequence[Contender], both: Bits, less: Less) -> tuple[list[Contender], Bits | None]:
    """All pairs of a level at once. ``both`` says where both partners are valid; the next level's comes along, since
    who is valid does not depend on who wins."""
    pairs = len(field) // 2
    keys = [contender.keys for contender in field]
    a, b = ([Numbers.concatenate(k) for k in zip(*keys[side : 2 * pairs : 2], strict=True)] for side in (0, 1))
    first, second = (Bits.side_by_side([c.feature for c in field[side : 2 * pairs : 2]]) for side in (0, 1))
    valid_a, valid_b = _partners(field)
    valid = _cut_row(valid_a ^ valid_b ^ both, pairs)
    differences = [key_a - key_b for key_a, key_b in zip(a, b, strict=True)]
    sign = less(ctx.step("less"), a, b, differences)
    meeting = _meet_circuit(sign.chunks, first.rows)
    shared = Bits.stack([both, valid_b ^ both, first ^ second])
    evaluation = sign.evaluation(ctx.step("wins"), meeting.circuit, shared)
    selection = mpc.SelectByRow([meeting.wins], mpc.Selection(ctx.step("choose"), Columns.of(differences)))
    left = [Contender([], first, bits) for bits in valid] + list(field[2 * pairs :])
    ahead: list[mpc.Evaluation] = []
    if len(left) > 1:
        rows = Bits.stack(_partners(left))
        ahead = [
            mpc.Evaluation(ctx.step("both"), _both_circuit(), mpc.SharedInputs(rows), mpc.dealer_blocks(rows.count))
        ]
    (moved,) = mpc.evaluate_and_select(ctx.step("wins"), [evaluation], [selection], ahead, after=1)
    winning = [key - lead for key, lead in zip(a, moved.list(), strict=True)]
    features = _cut_row(first ^ evaluation.shared(meeting.changes), pairs)
    for k, own in enumerate(zip(*(key.pieces(len(key) // pairs) for key in winning), strict=True)):
        left[k] = Contender(list(own), features[k], valid[k])
    return left, ahead[0].last_rows() if ahead else None


def tournament_cost(
    places: int, problem: Problem, keys: Sequence[Ring], sign: Callable[[int], tuple[Cost, int]]
) -> Cost:
    """Cost of :func:`tournament` of all features at so many places; ``sign`` says for a number of pairs what a
    comparison of keys costs before its sign's circuit, and the sign's bits."""
    field = len(problem.features)
    if field == 1:
        return FREE
    blocks = place_blocks(places, field)
    return sum((_meetings_cost(stop - start, problem, keys, sign) for start, stop in blocks), FREE)


def _meetings_cost(
    places: int, problem: Problem, keys: Sequence[Ring], sign: Callable[[int], tuple[Cost, int]]
) -> Cost:
    field, both = len(problem.features), _both_circuit()
    cost = mpc.circuit_cost(field // 2 * places, both)
    while field > 1:
        count, ahead = (size // 2 * places for size in (field, (field + 1) // 2))
        before, bits = sign(count)
        meeting = _meet_circuit(mpc.sign_chunks(count, bits), problem.feature_bits)
        cost += before + mpc.gated_cost(count, bits, meeting.circuit) + mpc.multiply_bit_cost(count, keys).along()
        cost += mpc.circuit_cost(ahead, both).along() if ahead else FREE
        field = (field + 1) // 2
    return cost


def _cut_row(row: Bits, parts: int) -> list[Bits]:
    count = row.count // parts
    return [row.span(k * count, (k + 1) * count) for k in range(parts)]


def cut_contender(joined: Contender, parts: int) -> list[Contender]:
    """Contenders that were laid end to end, one by one again."""
    count = len(joined.valid) // parts
    return [_between(joined, k * count, (k + 1) * count) for k in range(parts)]


def feature_less(ctx: Context, a: Bits, b: Bits) -> Bits:
    """The bit a < b of numbers given as rows of bits, lowest first. Cost: :func:`feature_less_cost`."""
    same = mpc.bit_not(ctx, a ^ b)
    return mpc.evaluate(ctx, _feature_circuit(a.rows, mpc.few(a.count)), Bits.stack([mpc.bit_not(ctx, a), b, same]))


@lru_cache(maxsize=64)
def _feature_circuit(rows: int, minimise_rounds: bool) -> mpc.Circuit:
    """From rows of not a, of b and of whether they are the same to the carry that says a < b."""
    size, radix = (4, 4) if minimise_rounds else (2, 3)
    wiring = mpc.Wiring()
    not_a, b, same = wiring.inputs(rows), wiring.inputs(rows), wiring.inputs(rows)
    stage: list[mpc.Formula] = []
    for low in range(0, rows, size):
        part = slice(low, min(rows, low + size))
        stage.append(mpc.carry_of([x & y for x, y in zip(not_a[part], b[part], strict=True)], same[part]))
        if low:
            stage.append(mpc.product(same[part]))
    made = iter(wiring.stage(stage))
    chunks = [(next(made), next(made) if low else None) for low in range(0, rows, size)]
    if len(chunks) > 1:
        g, p = zip(*chunks, strict=True)
        wiring.stage([mpc.carry_tree(wiring, g, p, mpc.radices_for(len(g), radix))])
    return wiring.circuit()


def feature_less_cost(count: int, rows: int) -> Cost:
    """Cost of :func:`feature_less`."""
    return mpc.circuit_cost(count, _feature_circuit(rows, mpc.few(count)))
