"""Changing representation: numbers to bits, and numbers to wider rings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import ring as ring_kernels
from ..sharing import RING16, RING32, RING64, RING128, ArithmeticShare, BinaryShare, Context, Ring
from ..sharing.ring import Words
from .carry import known_summands
from .cost import Cost, thirds_of
from .gate import Index, gates_cost, layer


def ring_to_bits(ctx: Context, x: ArithmeticShare, bits: int) -> BinaryShare:
    """The low ``bits`` bits of x, one row each, lowest first.

    Paper: ABY3, with a dealt summand and Sklansky's adder. Cost: :func:`ring_to_bits_cost`. Reveals: nothing beyond
    shapes: the previous party receives the dealer's bits masked by the dealer's key with the next one.
    """
    if not 1 <= bits <= x.ring.bits:
        raise ValueError(f"{x.ring} has 1 to {x.ring.bits} bits, not {bits}")
    thirds = thirds_of(len(x))
    known = known_summands(ctx, x, bits, thirds)
    mask = ctx.with_right(known.mine.shape)
    dealt = known.mine ^ mask
    dealt_lefts = ctx.with_left(known.lefts.shape)
    dealt_rights = np.empty_like(known.rights)
    ctx.exchange(to_left=dealt, from_right=dealt_rights)
    width = sum(thirds.width(p) for p in range(3))
    own, before, after = (thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
    left, right = np.zeros((2 * bits, width), np.uint64), np.zeros((2 * bits, width), np.uint64)
    left[:bits, own], right[:bits, own] = dealt, mask
    left[:bits, before], right[bits:, before] = dealt_lefts, known.lefts
    right[:bits, after], left[bits:, after] = dealt_rights, known.rights
    return _add_rows(ctx, BinaryShare(left, right, len(x)), bits)


def _add_rows(ctx: Context, operands: BinaryShare, bits: int) -> BinaryShare:
    """Sum modulo ``2**bits`` of two numbers given as ``bits`` rows each, by a parallel prefix of generate/propagate."""
    rows = np.arange(bits)
    generate = layer(ctx, operands, np.full(bits, -1), rows, rows + bits)
    propagate = BinaryShare(
        operands.left[:bits] ^ operands.left[bits:], operands.right[:bits] ^ operands.right[bits:], operands.count
    )
    state = BinaryShare.stack([generate, propagate])
    for base, x, y, changed in _prefix_plan(bits):
        joined = layer(ctx, state, base, x, y)
        left, right = state.left.copy(), state.right.copy()
        left[changed], right[changed] = joined.left, joined.right
        state = BinaryShare(left, right, operands.count)
    left, right = propagate.left.copy(), propagate.right.copy()
    left[1:] ^= state.left[: bits - 1]
    right[1:] ^= state.right[: bits - 1]
    return BinaryShare(left, right, operands.count)


def _prefix_plan(bits: int) -> list[tuple[Index, Index, Index, Index]]:
    """Sklansky's levels as gates (base, x, y) on rows G_0…, P_0… and the rows they replace."""
    plan = []
    span = 1
    while span < bits - 1:
        base, x, y, changed = [], [], [], []
        for i in range(bits - 1):
            if i & span:
                low = (i & ~(2 * span - 1)) + span - 1
                base.append(i)
                x.append(bits + i)
                y.append(low)
                changed.append(i)
                if i >= 2 * span:
                    base.append(-1)
                    x.append(bits + i)
                    y.append(bits + low)
                    changed.append(bits + i)
        plan.append((np.array(base), np.array(x), np.array(y), np.array(changed)))
        span *= 2
    return plan


def ring_to_bits_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`ring_to_bits`."""
    thirds = thirds_of(count)
    dealt = Cost(1, tuple(8 * bits * thirds.width(p) for p in range(3)))  # type: ignore[arg-type]
    cost = dealt + gates_cost(bits, count)
    for _, x, _, _ in _prefix_plan(bits):
        cost += gates_cost(len(x), count)
    return cost


def widen(ctx: Context, x: ArithmeticShare, ring: Ring) -> ArithmeticShare:
    """The same number in a wider ring (2^128 is reached by way of 2^64), for x < 2**(bits - 1).

    With the top bit of x known to be 0, A + B wraps around exactly if the top bit of A or of B is set, so
    ``x = A + B - 2^k·(b + a·(1 - b))`` with those top bits a and b: no carry chain is needed. What is multiplied by 2^k
    lives in a ring of k bits fewer than the wide one, or the next larger there is.

    Paper: our own. Cost: :func:`widen_cost`. Reveals: nothing beyond shapes; masks as in :mod:`.select`.
    """
    if x.ring == ring:
        return x
    if ring.bits < x.ring.bits:
        raise ValueError(f"widen() cannot go from {x.ring} down to {ring}; use narrow()")
    if ring == RING128 and x.ring != RING64:
        return widen(ctx.step("again"), widen(ctx, x, RING64), RING128)
    narrow, high = x.ring, _high_ring(x.ring, ring)
    thirds = thirds_of(len(x))
    own, before, after = (ctx.party, ctx.transport.left, ctx.transport.right)
    size = {p: thirds.size(p) for p in range(3)}
    item = {p: thirds.items(p) for p in range(3)}
    a = narrow.add(x.left[item[own]], x.right[item[own]])
    top_shift = narrow.dtype.type(narrow.bits - 1)
    mask, top_mask = ctx.with_right(ring.shape(size[own]), ring.dtype), ctx.with_right(size[own], high.dtype)
    dealt, dealt_top = ring.subtract(_lift(a, ring), mask), high.subtract(a >> top_shift, top_mask)
    before_wide = ctx.with_left(ring.shape(size[before]), ring.dtype)
    before_top = ctx.with_left(size[before], high.dtype)
    after_wide, after_top = ring.empty(size[after]), high.empty(size[after])
    ctx.exchange(to_left=[dealt, dealt_top], from_right=[after_wide, after_top])

    right_own, left_before = ctx.with_right(size[own], high.dtype), ctx.with_left(size[before], high.dtype)
    right_after, left_own = ctx.with_right(size[after], high.dtype), ctx.with_left(size[own], high.dtype)
    known_before = np.ascontiguousarray(x.right[item[before]])
    known_after = np.ascontiguousarray(x.left[item[after]])
    half_before, half_after = high.empty(size[before]), high.empty(size[after])
    ring_kernels.answer_wide(before_top, known_before, left_before, half_before)
    ring_kernels.answer_wide(after_top, known_after, right_after, half_after)
    other_before, other_after = np.empty_like(half_before), np.empty_like(half_after)
    ctx.exchange(to_right=half_before, to_left=half_after, from_right=other_before, from_left=other_after)

    def shifted(words: Words) -> Words:
        return _raise(words, narrow, ring)

    def common(known: Words, halves: Words) -> Words:
        return ring.subtract(_lift(known, ring), shifted(high.add(known >> top_shift, halves)))

    left, right = ring.empty(len(x)), ring.empty(len(x))
    left[item[own]], right[item[own]] = ring.subtract(dealt, shifted(left_own)), ring.subtract(mask, shifted(right_own))
    left[item[before]] = ring.subtract(before_wide, shifted(left_before))
    right[item[before]] = common(known_before, half_before + other_before)
    left[item[after]] = common(known_after, half_after + other_after)
    right[item[after]] = ring.subtract(after_wide, shifted(right_after))
    return ArithmeticShare(left, right, ring)


def widen_many(ctx: Context, columns: Sequence[ArithmeticShare], ring: Ring) -> list[ArithmeticShare]:
    """Columns of one length in a wider ring, those of the same ring in one go.

    Cost: :func:`widen_cost` of the items of every ring together. Reveals: nothing beyond shapes.
    """
    found, count = list(columns), len(columns[0])
    for narrow in dict.fromkeys(column.ring for column in columns):
        indices = [k for k, column in enumerate(columns) if column.ring == narrow]
        if narrow != ring:
            wide = widen(ctx, ArithmeticShare.concatenate([columns[k] for k in indices]), ring)
            for k, index in enumerate(indices):
                found[index] = wide[k * count : (k + 1) * count]
    return found


def _lift(words: Words, ring: Ring) -> Words:
    """Unsigned items of the narrow ring as items of the wide one."""
    if ring != RING128:
        return words.astype(ring.dtype)
    return np.stack([words, np.zeros_like(words)], axis=1)


def _high_ring(narrow: Ring, ring: Ring) -> Ring:
    """The ring of what stands above the narrow ring's bits in the wide one."""
    return next(high for high in (RING16, RING32, RING64) if high.bits >= ring.bits - narrow.bits)


def _raise(words: Words, narrow: Ring, ring: Ring) -> Words:
    """``2^k`` times items of the high ring, for a narrow ring of k bits."""
    if ring != RING128:
        lifted: Words = words.astype(ring.dtype) << ring.dtype.type(narrow.bits)
        return lifted
    return np.stack([np.zeros_like(words), words], axis=1)


def widen_cost(count: int, narrow: Ring, ring: Ring) -> Cost:
    """Cost of :func:`widen`: 2 rounds; per item in all one wide element and three of the ring above the narrow one."""
    if narrow == ring:
        return Cost.even(0, 0)
    if ring == RING128 and narrow != RING64:
        return widen_cost(count, narrow, RING64) + widen_cost(count, RING64, RING128)
    thirds = thirds_of(count)
    high = _high_ring(narrow, ring)

    def sent(party: int) -> int:
        return ring.nbytes * thirds.size(party) + high.nbytes * count

    return Cost(2, (sent(0), sent(1), sent(2)))
