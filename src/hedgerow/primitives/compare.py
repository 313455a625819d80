"""Comparison and equality of shared numbers, giving shared bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, reveal_bits, words_for
from ..sharing.ring import Words
from .carry import (
    ChunkInputs,
    Chunks,
    Known,
    UnsharedSum,
    carry_joins,
    complete,
    pass_joins,
    unshared_cost,
)
from .circuit import Circuit, Evaluation, circuit_cost
from .cost import Cost, thirds_of
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
    return _top_bit(ctx, complete(ctx, x, bits, thirds_of(len(x))), bits, len(x))


def _top_bit(ctx: Context, known: Known, bits: int, count: int) -> BinaryShare:
    chunks = Chunks.of(bits - 1, True, count)
    evaluation = Evaluation(ctx, _sign_circuit(chunks), ChunkInputs(chunks, known), thirds_of(count))
    evaluation.run()
    if chunks.radices:
        return evaluation.rows(*evaluation.circuit.bounds[-2:])
    rows = evaluation.rows(0, chunks.rows + 1)
    return rows.row(0) ^ rows.row(1) if chunks.rows else rows


@lru_cache(maxsize=256)
def _sign_circuit(chunks: Chunks) -> Circuit:
    """From rows G and P of the chunks below a sum's highest bit, and that bit without its carry, to the bit."""
    if not chunks.radices:
        return Circuit(chunks.rows + 1, [])
    number, top = chunks.number, chunks.rows
    joins = carry_joins(range(number), range(number - 1, top), chunks.radices, top + 1)
    return Circuit(top + 1, [*joins.stages, [((top,), *joins.last)]])


def top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`top_bit`: 14 bytes per item and party for 64 bits."""
    chunks = Chunks.of(bits - 1, True, count)
    return circuit_cost(count, _sign_circuit(chunks), chunks.monomials + 1, chunks.rows)


def reveal_top_bit(ctx: Context, x: ArithmeticShare, bits: int) -> Words:
    """:func:`top_bit` opened to all three parties as one packed row; the last stage is opened at once.

    Cost: as many rounds as :func:`top_bit`, and another two bits an item in all. Reveals: exactly that bit: the two
    summands of it that are told are masked by what the third party does not know.
    """
    _check_bits(x.ring, bits, x.ring.bits)
    chunks = Chunks.of(bits - 1, True, len(x))
    known = complete(ctx, x, bits, thirds_of(len(x)))
    if not chunks.radices:
        return reveal_bits(ctx, _top_bit(ctx, known, bits, len(x)))
    evaluation = Evaluation(ctx, _sign_circuit(chunks), ChunkInputs(chunks, known), thirds_of(len(x)), opened=True)
    evaluation.run()
    return evaluation.open_last()


def reveal_top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`reveal_top_bit`."""
    chunks = Chunks.of(bits - 1, True, count)
    if not chunks.radices:
        return top_bit_cost(count, bits) + Cost.even(1, 8 * words_for(count))
    return circuit_cost(count, _sign_circuit(chunks), chunks.monomials + 1, chunks.rows, opened=True)


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
    return _top_bit(ctx, UnsharedSum(ctx, ring, summand, bits, thirds), bits, thirds.count)


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
    inputs = ChunkInputs(chunks, complete(ctx, x, bits, thirds, minus=1))
    evaluation = Evaluation(ctx, _pass_circuit(chunks), inputs, thirds)
    evaluation.run()
    return evaluation.rows(*evaluation.circuit.bounds[-2:]) if chunks.radices else evaluation.rows(0, 1)


@lru_cache(maxsize=256)
def _pass_circuit(chunks: Chunks) -> Circuit:
    """From rows P of all chunks to whether all of them pass a carry on."""
    if not chunks.radices:
        return Circuit(chunks.rows, [])
    joins = pass_joins(range(chunks.rows), chunks.radices, chunks.rows)
    return Circuit(chunks.rows, [*joins.stages, [joins.last]])


def equal(ctx: Context, x: ArithmeticShare, y: ArithmeticShare, bits: int) -> BinaryShare:
    """The bit x = y for numbers of ``bits`` bits. Cost: :func:`equal_cost`. Reveals: nothing beyond shapes."""
    return is_zero(ctx, x - y, bits)


def equal_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`equal` and :func:`is_zero`."""
    chunks = Chunks.of(bits, False, count)
    return circuit_cost(count, _pass_circuit(chunks), chunks.monomials, chunks.rows)
