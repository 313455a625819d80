"""Comparison and equality of shared numbers, giving shared bits."""

from __future__ import annotations

import numpy as np

from ..sharing import ArithmeticShare, BinaryShare, Context, Ring
from .carry import (
    Chunks,
    carry_out,
    carry_out_cost,
    chunk_rows,
    chunk_rows_cost,
    known_summands,
)
from .cost import Cost, thirds_of
from .gate import gates_cost, layer


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
    chunks = Chunks.of(bits - 1)
    rows = chunk_rows(ctx, known_summands(ctx, x, bits, thirds), thirds, chunks, carries=True)
    top = BinaryShare(rows.left[-1:], rows.right[-1:], rows.count)
    if bits == 1:
        return top
    return top ^ carry_out(ctx, rows, chunks.number)


def top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`top_bit`: 14 bytes per item and party for 64 bits."""
    chunks = Chunks.of(bits - 1)
    return chunk_rows_cost(count, chunks, 1, True) + carry_out_cost(chunks.number, count)


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
    chunks = Chunks.of(bits)
    rows = chunk_rows(ctx, known_summands(ctx, x, bits, thirds, minus=1), thirds, chunks, carries=False)
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
    number = Chunks.of(bits).number
    cost = chunk_rows_cost(count, Chunks.of(bits), 0, False)
    while number > 1:
        cost += gates_cost(number // 2, count)
        number = (number + 1) // 2
    return cost
