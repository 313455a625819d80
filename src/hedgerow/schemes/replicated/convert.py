"""Changing representation: numbers to bits, and numbers to wider rings."""

from collections.abc import Sequence

import numpy as np

from ...engine import FREE, Context, Cost, Protocol, Steps, run
from ...kernels import ring as ring_kernels
from ...shares import RING16, RING32, RING64, RING128, Bits, Index, Numbers, Ring, Words
from .carry import known_rows
from .dealing import NEXT, OWN, PREVIOUS, Dealing, dealer_blocks, packet_sum
from .gate import gates_cost, layer


def ring_to_bits(ctx: Context, x: Numbers, bits: int) -> Bits:
    """The low ``bits`` bits of x, one row each, lowest first.

    Paper: ABY3, with a dealt summand and Sklansky's adder. Cost: :func:`ring_to_bits_cost`. Reveals: nothing beyond
    shapes: the previous party receives the dealer's bits masked by the dealer's key with the next one.
    """
    if not 1 <= bits <= x.ring.bits:
        raise ValueError(f"{x.ring} has 1 to {x.ring.bits} bits, not {bits}")
    return _add_rows(ctx, *run(ctx, _both_operands(ctx, x, bits)))


def _both_operands(ctx: Context, x: Numbers, bits: int) -> Steps[tuple[Bits, Bits]]:
    """The bits of A, dealt, and of B, known to both answering parties."""
    dealing = Dealing.of(ctx, len(x))
    known = known_rows(dealing, x, bits)
    packet = dealing.packet(dealing.row_shapes(bits))
    np.bitwise_xor(known[OWN], packet.mask, out=packet.content)
    yield packet.round()
    zeros = [np.zeros_like(rows) for rows in known]
    dealt = dealing.assemble_bits([packet.mask, *packet.received[1:]], [packet.content, *zeros[1:]])
    return dealt, dealing.assemble_bits(zeros, [zeros[OWN], *known[1:]])


def _add_rows(ctx: Context, a: Bits, b: Bits) -> Bits:
    """Sum modulo ``2**bits`` of two numbers given as ``bits`` rows each, by a parallel prefix of generate/propagate."""
    bits, rows = a.rows, np.arange(a.rows)
    generate = layer(ctx, Bits.stack([a, b]), np.full(bits, -1), rows, rows + bits)
    propagate = a ^ b
    state = Bits.stack([generate, propagate])
    for base, x, y, changed in _prefix_plan(bits):
        joined = layer(ctx, state, base, x, y)
        state = state.map(lambda rows, new, at=changed: _replaced(rows, new, at), joined)
    return propagate ^ state.map(lambda rows: np.concatenate([np.zeros_like(rows[:1]), rows[: bits - 1]]))


def _replaced(rows: Words, new: Words, at: Index) -> Words:
    out = rows.copy()
    out[at] = new
    return out


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
    blocks = dealer_blocks(count)
    cost = Cost.by_party(1, lambda party: 8 * bits * blocks.width(party)) + gates_cost(bits, count)
    for _, x, _, _ in _prefix_plan(bits):
        cost += gates_cost(len(x), count)
    return cost


def widen(ctx: Context, x: Numbers, ring: Ring) -> Numbers:
    """The same number in a wider ring (2^128 is reached by way of 2^64), for x < 2**(bits - 1).

    With the top bit of x known to be 0, A + B wraps around exactly if the top bit of A or of B is set, so
    ``x = A + B - 2^k·(b + a·(1 - b))`` with those top bits a and b: no carry chain is needed. What is multiplied by 2^k
    lives in a ring of k bits fewer than the wide one, or the next larger there is.

    Paper: our own. Cost: :func:`widen_cost`. Reveals: nothing beyond shapes; masks as in :mod:`.dealing`.
    """
    if x.ring == ring:
        return x
    if ring.bits < x.ring.bits:
        raise ValueError(f"widen() cannot go from {x.ring} down to {ring}; use narrow()")
    if ring == RING128 and x.ring != RING64:
        return widen(ctx.step("again"), widen(ctx, x, RING64), RING128)
    return widen_once(ctx, x, ring)


@Protocol
def widen_once(ctx: Context, x: Numbers, ring: Ring) -> Steps[Numbers]:
    """:func:`widen` from one ring to another without one in between."""
    narrow, high = x.ring, ring_above(x.ring.bits, ring)
    dealing = Dealing.of(ctx, len(x))
    known = [np.ascontiguousarray(words) for words in dealing.known_numbers(x)]
    tops = [words >> narrow.dtype.type(narrow.bits - 1) for words in known]
    number = dealing.packet(dealing.number_shapes(ring), ring.dtype)
    top = dealing.packet(dealing.number_shapes(high), high.dtype)
    number.content[:] = ring.subtract(_lift(known[OWN], ring), number.mask)
    np.subtract(tops[OWN], top.mask, out=top.content, dtype=high.dtype, casting="unsafe")
    opening = number.round()
    opening += top.round()
    yield opening
    masks = dealing.answer_masks(dealing.number_shapes(high), high.dtype)
    halves = [np.empty_like(mask) for mask in masks.answering[1:]]
    for role in (NEXT, PREVIOUS):
        ring_kernels.answer_wide(top.received[role], known[role], masks.answering[role], halves[role - 1])
    others = yield from dealing.exchange_halves(halves)
    wraps = [high.add(tops[role], half + other) for role, half, other in zip((1, 2), halves, others, strict=True)]
    wrapped = dealing.assemble_numbers(high, [masks.own[1], *masks.answering[1:]], [masks.own[0], *wraps])
    total = packet_sum(dealing, ring, number, [known[OWN], *(_lift(words, ring) for words in known[1:])])
    return total.map(lambda side, wrap: ring.subtract(side, raised(wrap, narrow.bits, ring)), wrapped)


def widen_many(ctx: Context, columns: Sequence[Numbers], ring: Ring) -> list[Numbers]:
    """Columns of one length in a wider ring, those of the same ring in one go.

    Cost: :func:`widen_cost` of the items of every ring together. Reveals: nothing beyond shapes.
    """
    found = list(columns)
    for narrow in dict.fromkeys(column.ring for column in columns):
        indices = [k for k, column in enumerate(columns) if column.ring == narrow]
        if narrow != ring:
            wide = widen(ctx, Numbers.concatenate([columns[k] for k in indices]), ring)
            for index, part in zip(indices, wide.cut_like([columns[k] for k in indices]), strict=True):
                found[index] = part
    return found


def _lift(words: Words, ring: Ring) -> Words:
    """Unsigned items of the narrow ring as items of the wide one."""
    if ring != RING128:
        return words.astype(ring.dtype)
    return np.stack([words, np.zeros_like(words)], axis=1)


def ring_above(bits: int, ring: Ring) -> Ring:
    """The narrowest ring that has all bits of ``ring`` above the low ones."""
    return next(high for high in (RING16, RING32, RING64) if high.bits >= ring.bits - bits)


def raised(words: Words, bits: int, ring: Ring) -> Words:
    """``2^bits`` times items of the ring above."""
    if ring != RING128:
        lifted: Words = words.astype(ring.dtype) << ring.dtype.type(bits)
        return lifted
    return np.stack([np.zeros_like(words), words], axis=1)


def widen_cost(count: int, narrow: Ring, ring: Ring) -> Cost:
    """Cost of :func:`widen`: 2 rounds; per item in all one wide element and three of the ring above the narrow one."""
    if narrow == ring:
        return FREE
    if ring == RING128 and narrow != RING64:
        return widen_cost(count, narrow, RING64) + widen_cost(count, RING64, RING128)
    blocks, high = dealer_blocks(count), ring_above(narrow.bits, ring)
    return Cost.by_party(2, lambda party: ring.nbytes * blocks.size(party) + high.nbytes * count)
