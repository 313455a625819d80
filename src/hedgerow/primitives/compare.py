"""Comparison and equality of shared numbers, giving shared bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from .circuit import Circuit, Evaluation, Output, circuit_cost
from .cost import Cost, thirds_of
from .multiply import dot_summands
from .steps import Round, once, run, together


def _check_bits(ring: Ring, bits: int, most: int) -> None:
    if not 1 <= bits <= most:
        raise ValueError(f"{ring} can compare numbers of 1 to {most} bits, not {bits}; use a wider ring")


@dataclass(frozen=True, slots=True)
class Sign:
    """The highest of ``bits`` bits of ``count`` sums, about to be found: what every party knows of them."""

    known: Known
    bits: int
    count: int
    alone: bool = False

    @property
    def chunks(self) -> Chunks:
        """How the bits below are cut."""
        return sign_chunks(self.count, self.bits)

    def evaluation(
        self, ctx: Context, circuit: Circuit, shared: BinaryShare | None = None, opened: bool = False
    ) -> Evaluation:
        """A circuit that begins with :func:`sign_joins`; ``shared`` are its other inputs."""
        inputs = ChunkInputs(self.chunks, self.known, shared)
        return Evaluation(ctx, circuit, inputs, thirds_of(self.count, self.alone), opened)

    def found(self, ctx: Context, beside: Round | None = None) -> BinaryShare:
        """The sign, shared; ``beside`` travels in the round of the dealing."""
        chunks = self.chunks
        evaluation = self.evaluation(ctx, _sign_circuit(chunks))
        run(ctx, together(evaluation.steps(), once(beside or Round())))
        if chunks.radices:
            return evaluation.last_rows()
        rows = evaluation.rows(0, chunks.rows + 1)
        return rows.row(0) ^ rows.row(1) if chunks.rows else rows


def sign_chunks(count: int, bits: int) -> Chunks:
    """How the bits below a sign are cut."""
    return Chunks.of(bits - 1, True, count)


@dataclass(frozen=True, slots=True)
class SignJoins:
    """The beginning of a circuit: the stages up to the last one, the sign as a sum of products of rows, the number of
    the first of the shared inputs, and the number of the first row that is still free."""

    inputs: int
    stages: list[list[Output]]
    sign: Output
    shared: int
    fresh: int


def sign_joins(chunks: Chunks, shared: int) -> SignJoins:
    """From rows G and P of the chunks below a sum's highest bit, and that bit without its carry, to the bit; the
    circuit has ``shared`` other inputs."""
    number, top = chunks.number, chunks.rows
    inputs = top + 1 + shared
    joins = carry_joins(range(number), range(number - 1, top), chunks.radices, inputs)
    fresh = inputs + sum(len(stage) for stage in joins.stages)
    return SignJoins(inputs, joins.stages, ((top,), *joins.last), top + 1, fresh)


def times(row: int, output: Output) -> Output:
    """A row times a sum of products."""
    return tuple((row, *term) for term in output)


def top_bit(ctx: Context, x: ArithmeticShare, bits: int) -> BinaryShare:
    """Bit ``bits - 1`` of x, that is, the sign of x modulo ``2**bits`` in two's complement.

    Paper: our own; the dealt two-summand form is known from ABY3, the chunk polynomials replace the adder's first
    levels (see :mod:`hedgerow.kernels.chunk`). Cost: :func:`top_bit_cost`. Reveals: nothing beyond shapes.
    """
    return _sign(ctx, x, bits).found(ctx)


def _sign(ctx: Context, x: ArithmeticShare, bits: int) -> Sign:
    _check_bits(x.ring, bits, x.ring.bits)
    return Sign(complete(ctx, x, bits, thirds_of(len(x))), bits, len(x))


@lru_cache(maxsize=256)
def _sign_circuit(chunks: Chunks) -> Circuit:
    """The sign alone; without a stage where it is a sum of inputs."""
    return sign_circuit(chunks) if chunks.radices else Circuit(chunks.rows + 1, [])


@lru_cache(maxsize=256)
def sign_circuit(chunks: Chunks) -> Circuit:
    """The sign alone."""
    joins = sign_joins(chunks, 0)
    return Circuit(joins.inputs, [*joins.stages, [joins.sign]])


def gated_cost(count: int, bits: int, circuit: Circuit, alone: bool = False) -> Cost:
    """Cost of a circuit that begins with :func:`sign_joins`."""
    chunks = sign_chunks(count, bits)
    return circuit_cost(count, circuit, chunks.monomials + 1, chunks.rows, alone=alone)


def top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`top_bit`: 14 bytes per item and party for 64 bits."""
    return gated_cost(count, bits, _sign_circuit(sign_chunks(count, bits)))


def reveal_top_bit(ctx: Context, x: ArithmeticShare, bits: int) -> Words:
    """:func:`top_bit` opened to all three parties as one packed row; the last stage is opened at once.

    Cost: as many rounds as :func:`top_bit`, and another two bits an item in all. Reveals: exactly that bit: the two
    summands of it that are told are masked by what the third party does not know.
    """
    sign = _sign(ctx, x, bits)
    if not sign.chunks.radices:
        return reveal_bits(ctx, sign.found(ctx))
    evaluation = sign.evaluation(ctx, sign_circuit(sign.chunks), opened=True)
    run(ctx, evaluation.steps())
    return evaluation.open_last()


def opened_top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`reveal_top_bit`."""
    chunks = sign_chunks(count, bits)
    if not chunks.radices:
        return top_bit_cost(count, bits) + Cost.even(1, 8 * words_for(count))
    return circuit_cost(count, sign_circuit(chunks), chunks.monomials + 1, chunks.rows, opened=True)


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
    return sign_of_products(ctx, xs, ys, bits, plus).found(ctx)


def sign_of_products(
    ctx: Context,
    xs: Sequence[ArithmeticShare],
    ys: Sequence[ArithmeticShare],
    bits: int,
    plus: ArithmeticShare | None = None,
    alone: bool = False,
) -> Sign:
    """The sign of :func:`product_sign`, about to be found; with ``alone``, one party deals however many there are."""
    ring, thirds = xs[0].ring, thirds_of(len(xs[0]), alone)
    _check_bits(ring, bits, ring.bits)
    summand = dot_summands(ctx, xs, ys)
    if plus is not None:
        summand = ring.add(summand, plus.left)
    return Sign(UnsharedSum(ctx, ring, summand, bits, thirds), bits, thirds.count, alone)


def product_sign_cost(count: int, ring: Ring, bits: int) -> Cost:
    """Cost of :func:`product_sign`, however many terms."""
    return top_bit_cost(count, bits) + unshared_cost(count, ring)


def less_than(ctx: Context, x: ArithmeticShare, y: ArithmeticShare, bits: int) -> BinaryShare:
    """The bit x < y for numbers of ``bits`` bits; more exactly, for |x - y| < 2**bits.

    Cost: :func:`less_than_cost`. Reveals: nothing beyond shapes.
    """
    return sign_of(ctx, x - y, bits).found(ctx)


def sign_of(ctx: Context, x: ArithmeticShare, bits: int) -> Sign:
    """Whether x is negative, for |x| < 2**bits, about to be found."""
    _check_bits(x.ring, bits, x.ring.bits - 1)
    return _sign(ctx, x, bits + 1)


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
    run(ctx, evaluation.steps())
    return evaluation.last_rows() if chunks.radices else evaluation.rows(0, 1)


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
