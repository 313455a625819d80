"""The best item of every segment, known at all of the segment's items; segments are secret.

A binary tree over the items. Every block of the tree knows its *lead*, the best item of the segment its first item
belongs to (as far as it lies in the block), its *trail*, the same for its last item, and whether it is a *single*
segment. Two blocks join with one comparison: the left one's trail against the right one's lead. On the way down every
block learns the final answers for its first and its last item; that takes selections only. So n items cost n
comparisons, not n·log n, and no second sweep of comparisons. The last blocks are joined in groups, several at once (see
:mod:`.blocks`), which costs comparisons and saves rounds: how many blocks is a parameter, the tree's fan-in at the top.

Scores are numbers or fractions p/q. Of equal scores the earlier item wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import protocols as mpc
from ..engine import FREE, Context, Cost, run
from ..shares import Bits, Columns, Ring, pack_row, padded, riffled
from .blocks import join_blocks, join_blocks_cost

FAN_IN = 1280
"""Blocks joined in groups, not two by two, on a fast network; see docs/decisions/0003-fast-trainer.md."""


@dataclass(frozen=True, slots=True)
class _Joint:
    """What a level keeps for the way down: how many blocks met, the numbers of the two items of each pair, the bits
    that decide."""

    count: int
    trail: Columns
    lead: Columns
    left_single: Bits
    right_single: Bits
    opening: Bits
    less: Bits


def segment_best(ctx: Context, items: Columns, starts: Bits, scores: mpc.Scores, fan_in: int = FAN_IN) -> Columns:
    """For every item the numbers of its segment's best item; ``items`` are the columns of scores and the numbers.

    ``starts`` flags the first item of every segment. Vectors have a multiple of 64 items.

    Paper: replaces HIKC23's GroupMax. Cost: about n comparisons of scores, 2n selections of items on the
    way up and n of numbers on the way down; a level takes the comparison's rounds and five more; about 4·fan_in
    comparisons for the last ``fan_in`` blocks; exactly :func:`segment_best_cost`. Reveals: nothing beyond shapes.
    """
    count = len(items)
    lead = trail = items
    linked = mpc.bit_not(ctx, starts)
    ones = mpc.public_bits(ctx, np.full((1, count // 64), ~np.uint64(0)), count)
    flags = _Flags(ones, linked, linked)
    joints: list[_Joint] = []
    ahead = _look_ahead(ctx.step("first"), flags, count) if count > max(1, fan_in) else None
    while ahead is not None:
        (left_lead, right_lead), (left_trail, right_trail) = _halves(lead, count), _halves(trail, count)
        count_met, count = count, (count + 1) // 2
        more = _ahead_evaluation(ctx.step("ahead"), ahead.joined, count) if count > max(1, fan_in) else None
        less, lead, trail = _decide(ctx, ahead, (left_lead, left_trail), (right_lead, right_trail), scores, more)
        met = left_trail.after(scores.columns), right_lead.after(scores.columns)
        joints.append(_Joint(count_met, *met, ahead.first.single, ahead.second.single, ahead.second.linked, less))
        flags, ahead = ahead.joined, more.found() if more else None
    first, last = join_blocks(ctx.step("top"), lead, trail, flags.linked, flags.single, count, scores)
    return _tell(ctx.step("tell"), joints, first, last)


@dataclass(frozen=True, slots=True)
class _Flags:
    """Per block: whether it is a single segment, whether its first item is linked to the block before, and both."""

    single: Bits
    linked: Bits
    whole: Bits


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The flags of a level's first and second partners, whether a first block reaches its partner as a whole, and the
    flags of the joint blocks: all of it known before any score is compared."""

    first: _Flags
    second: _Flags
    reach: Bits
    joined: _Flags


def _partners(flags: _Flags, count: int) -> tuple[_Flags, _Flags]:
    """Left and right partners; a missing right partner is not linked to anything."""
    left, right = (_Flags(*(x.every_other(side) for x in (flags.single, flags.linked, flags.whole))) for side in (0, 1))
    real = pack_row(np.arange(64 * right.linked.width) < count // 2)
    linked, whole = (x.masked(real) for x in (right.linked, right.whole))
    return left, _Flags(right.single, linked, whole)


@dataclass(frozen=True, slots=True)
class _AheadCircuit:
    """From the left blocks' single and whole, the right ones' linked and whole: reach, and single and whole of both."""

    circuit: mpc.Circuit
    reach: mpc.Formula
    single: mpc.Formula
    whole: mpc.Formula


@lru_cache(maxsize=1)
def _ahead_circuit() -> _AheadCircuit:
    wiring = mpc.Wiring()
    single, whole, right_linked, right_whole = wiring.inputs(4)
    reach, both_single, both_whole = wiring.stage([single & right_linked, single & right_whole, whole & right_whole])
    return _AheadCircuit(wiring.circuit(), reach, both_single, both_whole)


@dataclass(frozen=True, slots=True)
class _Looking:
    """The gates that look one level ahead."""

    first: _Flags
    second: _Flags
    evaluation: mpc.Evaluation

    def found(self) -> _Ahead:
        """What they found, once they are evaluated."""
        gates = _ahead_circuit()
        reach, single, whole = (self.evaluation.shared([bit]) for bit in (gates.reach, gates.single, gates.whole))
        return _Ahead(self.first, self.second, reach, _Flags(single, self.first.linked, whole))


def _ahead_evaluation(ctx: Context, flags: _Flags, count: int) -> _Looking:
    first, second = _partners(flags, count)
    rows = Bits.stack([first.single, first.whole, second.linked, second.whole])
    evaluation = mpc.Evaluation(ctx, _ahead_circuit().circuit, mpc.SharedInputs(rows), mpc.dealer_blocks(rows.count))
    return _Looking(first, second, evaluation)


def _look_ahead(ctx: Context, flags: _Flags, count: int) -> _Ahead:
    looking = _ahead_evaluation(ctx, flags, count)
    run(ctx, looking.evaluation.steps())
    return looking.found()


@dataclass(frozen=True, slots=True)
class _DecideCircuit:
    """Whether the left trail is less than the right lead, whether that lead changes the joint block's lead, and whether
    the left trail changes its trail."""

    circuit: mpc.Circuit
    less: mpc.Formula
    new_lead: mpc.Formula
    new_trail: mpc.Formula


@lru_cache(maxsize=64)
def _decide_circuit(chunks: mpc.Chunks) -> _DecideCircuit:
    """From a sign, and from reach and the right block's whole.

    The lead changes if the left block is single, the joint linked and the right lead better; the trail changes if the
    right block is single, the joint linked and the right lead not better.
    """
    wiring = mpc.Wiring()
    less, (reach, whole) = mpc.sign_formula(wiring, chunks, 2)
    found = wiring.stage([less, reach & less, whole & ~less])
    return _DecideCircuit(wiring.circuit(), *found)


def _decide(
    ctx: Context,
    ahead: _Ahead,
    left: tuple[Columns, Columns],
    right: tuple[Columns, Columns],
    scores: mpc.Scores,
    more: _Looking | None,
) -> tuple[Bits, Columns, Columns]:
    """Whether the left trail is less than the right lead, and the leads and trails of the joint blocks; in the same
    rounds the gates that look ahead."""
    (left_lead, left_trail), (right_lead, right_trail) = left, right
    sign = mpc.score_sign(ctx, left_trail, right_lead, scores)
    decide = _decide_circuit(sign.chunks)
    known = Bits.stack([ahead.reach, ahead.second.whole])
    evaluation = sign.evaluation(ctx.step("decide"), decide.circuit, known)
    selections = [
        mpc.SelectByRow([bit], mpc.Selection(ctx.step("choose"), change))
        for bit, change in ((decide.new_lead, right_lead - left_lead), (decide.new_trail, left_trail - right_trail))
    ]
    beside = [more.evaluation] if more else []
    lead, trail = mpc.evaluate_and_select(ctx.step("decide"), [evaluation], selections, beside)
    return evaluation.shared([decide.less]), left_lead + lead, right_trail + trail


def _decide_cost(half: int, scores: mpc.Scores, numbers: Sequence[Ring], ahead: int) -> Cost:
    """Cost of :func:`_decide` with ``ahead`` items to look ahead at; all is dealt in one round and answered in one."""
    columns = [*scores.rings, *numbers]
    circuit = _decide_circuit(mpc.sign_chunks(half, scores.bits + 1)).circuit
    cost = mpc.score_sign_cost(half, scores) + mpc.gated_cost(half, scores.bits + 1, circuit)
    cost += mpc.multiply_bit_cost(half, columns).along(1) + mpc.multiply_bit_cost(half, columns).along()
    return cost + mpc.circuit_cost(ahead, _ahead_circuit().circuit).along() if ahead else cost


def _halves(items: Columns, count: int) -> tuple[Columns, Columns]:
    """Left and right partners, zeros appended."""
    length = padded((count + 1) // 2)
    left, right = (items.padded(length, slice(side, count, 2)) for side in (0, 1))
    return left, right


def _tell(ctx: Context, joints: Sequence[_Joint], first: Columns, last: Columns) -> Columns:
    """The way down: from the top blocks' answers for their first and last items to every item's.

    A left block's last item (and, mirrored, a right block's first) gets: if its block is a single segment, the answer
    for the block's first item; else, if the joint is linked and the other block is single, that block's outer answer;
    else its segment ends inside, with the better of the two items that met, or its own if the joint is cut.
    """
    if not joints:
        return first
    middles = _middles(ctx, joints[1:])
    for joint, (single, far, numbers) in zip(reversed(joints[1:]), reversed(middles), strict=True):
        length = len(numbers) // 2
        first, last = first.padded(length), last.padded(length)
        changes = Columns.concatenate([first, last, last, first]) - Columns.concatenate([numbers, numbers])
        inner = numbers + mpc.select_columns(ctx.step("answer"), [single, far], changes)
        left, right = inner[:length], inner[length:]
        first, last = riffled(first, right, joint.count), riffled(left, last, joint.count)
    return riffled(first, last, joints[0].count)


def _middles(ctx: Context, joints: Sequence[_Joint]) -> list[tuple[Bits, Bits, Columns]]:
    """For all levels at once what does not depend on answers from above: which blocks are single, which look to the far
    side, and what a segment that ends inside gets; left blocks, then right ones."""
    if not joints:
        return []
    single = Bits.end_to_end([part for j in joints for part in (j.left_single, j.right_single)])
    other = Bits.end_to_end([part for j in joints for part in (j.right_single, j.left_single)])
    opening = Bits.end_to_end([part for j in joints for part in (j.opening, j.opening)])
    less = Bits.end_to_end([part for j in joints for part in (j.less, mpc.bit_not(ctx, j.less))])
    gates, inputs = _middle_circuit(), mpc.SharedInputs(Bits.stack([single, other, opening, less]))
    evaluation = mpc.Evaluation(ctx.step("linked"), gates.circuit, inputs, mpc.dealer_blocks(single.count))
    met = Columns.concatenate([part for j in joints for part in (j.lead, j.trail)])
    own = Columns.concatenate([part for j in joints for part in (j.trail, j.lead)])
    selection = mpc.Selection(ctx.step("middle"), met - own)
    (moved,) = mpc.evaluate_and_select(ctx.step("linked"), [evaluation], [mpc.SelectByRow([gates.counts], selection)])
    numbers, far = own + moved, evaluation.shared([gates.far])
    middles, start = [], 0
    for joint in joints:
        stop = start + 2 * len(joint.lead)
        middles.append((single.span(start, stop), far.span(start, stop), numbers[start:stop]))
        start = stop
    return middles


@dataclass(frozen=True, slots=True)
class _MiddleCircuit:
    """Whether the item that was met counts, and whether the answer comes from the far side."""

    circuit: mpc.Circuit
    counts: mpc.Formula
    far: mpc.Formula


@lru_cache(maxsize=1)
def _middle_circuit() -> _MiddleCircuit:
    """From whether a block is single, whether the other one is, whether the joint is linked and whether the other item
    is better."""
    wiring = mpc.Wiring()
    single, other_single, linked, better = wiring.inputs(4)
    found = wiring.stage([linked & better, other_single & linked & ~single])
    return _MiddleCircuit(wiring.circuit(), *found)


def segment_best_cost(count: int, numbers: Sequence[Ring], scores: mpc.Scores, fan_in: int = FAN_IN) -> Cost:
    """Cost of :func:`segment_best` for ``count`` items, a multiple of 64."""
    cost = FREE
    halves: list[int] = []
    if count > max(1, fan_in):
        cost += mpc.circuit_cost(padded((count + 1) // 2), _ahead_circuit().circuit)
    while count > max(1, fan_in):
        half = padded((count + 1) // 2)
        halves.append(half)
        count = (count + 1) // 2
        ahead = padded((count + 1) // 2) if count > max(1, fan_in) else 0
        cost += _decide_cost(half, scores, numbers, ahead)
    cost += join_blocks_cost(count, numbers, scores)
    if len(halves) > 1:
        total = 2 * sum(halves[1:])
        cost += mpc.circuit_cost(total, _middle_circuit().circuit) + mpc.multiply_bit_cost(total, numbers).along(1)
        for half in halves[1:]:
            cost += mpc.select_sum_cost(2 * half, 2, numbers)
    return cost
