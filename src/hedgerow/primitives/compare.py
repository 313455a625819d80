"""Comparison and equality of shared numbers, giving shared bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, reveal_bits
from ..sharing.ring import Words
from .carry import (
    Chunks,
    Known,
    UnsharedSum,
    carry_out,
    carry_out_cost,
    carry_plan,
    chunk_rows,
    chunk_rows_cost,
    complete,
    join_chunks,
    unshared_cost,
)
from .cost import Cost, Thirds, thirds_of
from .gate import gate_summands, gates_cost, layer
from .multiply import dot_summands


def _check_bits(ring: Ring, bits: int, most: int) -> None:
    if not 1 <= bits <= most:
        raise ValueError(f"{ring} can compare numbers of 1 to {most} bits, not {bits}; use a wider ring")


def top_bit(ctx: Context, x: ArithmeticShare, bits: int) -> BinaryShare:
    """Bit ``bits - 1`` of x, that is, the sign of x modulo ``2**bits`` in two's complement.

    Paper: our own; the dealt two-summand form is known from ABY3, the chunk polynomials replace the adder's first
    levels (see :mod:`hedgerow.kernels.chunk`). Cost: :func:`top_bit_cost`. Reveals: nothing beyond shapes.
    """
    _check_bits(x.ring, bits, x.ring.bits)
    thirds = thirds_of(len(x))
    return _top_bit(ctx, complete(ctx, x, bits, thirds), bits, thirds)


def _top_bit(ctx: Context, known: Known, bits: int, thirds: Thirds) -> BinaryShare:
    rows, number = _carry_rows(ctx, known, bits, thirds)
    top = rows.row(rows.rows - 1)
    return top ^ carry_out(ctx, rows, number) if number else top


def _carry_rows(ctx: Context, known: Known, bits: int, thirds: Thirds) -> tuple[BinaryShare, int]:
    """Rows G and P of the chunks below bit ``bits - 1``, then that bit without its carry; and how many chunks."""
    chunks = Chunks.of(bits - 1, True, thirds.count)
    return chunk_rows(ctx, known, thirds, chunks, carries=True), chunks.number


def top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`top_bit`: 14 bytes per item and party for 64 bits."""
    chunks = Chunks.of(bits - 1, True, count)
    return chunk_rows_cost(count, chunks, 1, True) + carry_out_cost(chunks.number, count)


def reveal_top_bit(ctx: Context, x: ArithmeticShare, bits: int) -> Words:
    """:func:`top_bit` opened to all three parties as one packed row; the last gate is opened at once.

    Cost: as many rounds and bytes as :func:`top_bit`, and a bit an item and party. Reveals: exactly that bit: the three
    summands of it are masked by a share of zero.
    """
    _check_bits(x.ring, bits, x.ring.bits)
    thirds = thirds_of(len(x))
    rows, number = _carry_rows(ctx, complete(ctx, x, bits, thirds), bits, thirds)
    top = rows.row(rows.rows - 1)
    if number == 0:
        return reveal_bits(ctx, top)
    rows, number = join_chunks(ctx, rows, number, 2)
    if number == 1:
        return reveal_bits(ctx, top ^ rows.row(0))
    base, first, second, _ = carry_plan(2)
    own = gate_summands(ctx, rows, base, first, second) ^ top.left
    others = np.empty_like(own), np.empty_like(own)
    ctx.exchange(to_left=own, to_right=own, from_left=others[0], from_right=others[1])
    opened: Words = own ^ others[0] ^ others[1]
    return opened


def product_sign(
    ctx: Context,
    xs: Sequence[ArithmeticShare],
    ys: Sequence[ArithmeticShare],
    bits: int,
    plus: ArithmeticShare | None = None,
) -> BinaryShare:
    """:func:`top_bit` of the inner product ``sum of xs[t] * ys[t]`` (plus a number), which is never shared itself.

    Paper: our own. Cost: :func:`product_sign_cost`, a round less than a product and a comparison. Reveals: nothing
    beyond shapes; see :class:`.carry.UnsharedSum`.
    """
    ring, thirds = xs[0].ring, thirds_of(len(xs[0]))
    _check_bits(ring, bits, ring.bits)
    summand = dot_summands(ctx, xs, ys)
    if plus is not None:
        summand = ring.add(summand, plus.left)
    return _top_bit(ctx, UnsharedSum(ctx, ring, summand, bits, thirds), bits, thirds)


def product_sign_cost(count: int, ring: Ring, bits: int) -> Cost:
    """Cost of :func:`product_sign`, however many terms."""
    return top_bit_cost(count, bits) + unshared_cost(count, ring)


def less_than(ctx: Context, x: ArithmeticShare, y: ArithmeticShare, bits: int) -> BinaryShare:
    """The bit x < y for numbers of ``bits`` bits; more exactly, for |x - y| < 2**bits.

    Cost: :func:`less_than_cost`. Reveals: nothing beyond shapes.
    """
    _check_bits(x.ring, bits, x.ring.bits - 1)
    return top_bit(ctx, x - y, bits + 1)


def less_than_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`less_than`."""
    return top_bit_cost(count, bits + 1)


def is_zero(ctx: Context, x: ArithmeticShare, bits: int) -> BinaryShare:
    """The bit x = 0 modulo ``2**bits``. With x = A + B this says that A and B - 1 differ in every bit.

    Cost: :func:`equal_cost`. Reveals: nothing beyond shapes.
    """
    _check_bits(x.ring, bits, x.ring.bits)
    thirds = thirds_of(len(x))
    chunks = Chunks.of(bits, False, len(x))
    rows = chunk_rows(ctx, complete(ctx, x, bits, thirds, minus=1), thirds, chunks, carries=False)
    while rows.rows > 1:
        half = rows.rows // 2
        index = np.arange(half)
        joined = layer(ctx, rows, np.full(half, -1), index, index + half)
        rows = joined if rows.rows % 2 == 0 else BinaryShare.stack([joined, rows.row(rows.rows - 1)])
    return rows


def equal(ctx: Context, x: ArithmeticShare, y: ArithmeticShare, bits: int) -> BinaryShare:
    """The bit x = y for numbers of ``bits`` bits. Cost: :func:`equal_cost`. Reveals: nothing beyond shapes."""
    return is_zero(ctx, x - y, bits)


def equal_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`equal` and :func:`is_zero`."""
    chunks = Chunks.of(bits, False, count)
    number = chunks.number
    cost = chunk_rows_cost(count, chunks, 0, False)
    while number > 1:
        cost += gates_cost(number // 2, count)
        number = (number + 1) // 2
    return cost
