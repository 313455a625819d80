"""Comparison and equality of shared numbers, giving shared bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...engine import Context, Cost, Round, once, run, together
from ...shares import Bits, Numbers, Ring, Words, words_for
from .carry import ChunkInputs, Chunks, LocalOperand, SharedOperand, SumOperand, unshared_cost
from .circuit import Circuit, circuit_cost
from .dealing import Dealing, dealer_blocks
from .evaluation import Evaluation
from .formula import Formula, Wiring, carry_tree, product, product_tree
from .multiply import dot_summands
from .reveal import reveal_bits


def _check_bits(ring: Ring, bits: int, most: int) -> None:
    if not 1 <= bits <= most:
        raise ValueError(f"{ring} can compare numbers of 1 to {most} bits, not {bits}; use a wider ring")


@dataclass(frozen=True, slots=True)
class PendingSign:
    """The highest of ``bits`` bits of ``count`` sums, still to be found: what every party knows of them."""

    operand: SumOperand
    bits: int
    count: int
    single_dealer: bool = False

    @property
    def chunks(self) -> Chunks:
        """How the bits below are cut."""
        return sign_chunks(self.count, self.bits)

    def evaluation(
        self, ctx: Context, circuit: Circuit, shared: Bits | None = None, opened: bool = False
    ) -> Evaluation:
        """A circuit that begins with :func:`sign_formula`; ``shared`` are its other inputs."""
        inputs = ChunkInputs(self.chunks, self.operand, shared)
        return Evaluation(ctx, circuit, inputs, dealer_blocks(self.count, self.single_dealer), opened)

    def found(self, ctx: Context, beside: Round | None = None) -> Bits:
        """The sign, shared; ``beside`` travels in the round of the dealing."""
        sign = sign_circuit(self.chunks)
        evaluation = self.evaluation(ctx, sign.circuit)
        run(ctx, together(evaluation.steps(), once(beside or Round())))
        if sign.found is not None:
            return evaluation.shared([sign.found])
        # Up to four bits are one chunk: the sign is a sum of inputs, which needs no stage.
        return evaluation.shared(sign.summands).any_row()


def sign_chunks(count: int, bits: int) -> Chunks:
    """How the bits below a sign are cut."""
    return Chunks.of(bits - 1, True, count)


def sign_formula(wiring: Wiring, chunks: Chunks, shared: int = 0) -> tuple[Formula, list[Formula]]:
    """The beginning of a circuit: its inputs are rows G and P of the chunks below a sum's highest bit, that bit without
    its carry, and ``shared`` other bits. Returns the highest bit, which a stage is still to compute, and the others."""
    number = chunks.number
    g, p, (top,) = wiring.inputs(number), wiring.inputs(max(0, number - 1)), wiring.inputs(1)
    others = wiring.inputs(shared)
    if number == 0:
        return top, others
    return top ^ carry_tree(wiring, g, [None, *p], chunks.radices), others


@dataclass(frozen=True, slots=True)
class SignCircuit:
    """A sign alone: the bit that has it, or, where it takes no stage, the inputs whose sum it is."""

    circuit: Circuit
    found: Formula | None
    summands: list[Formula]


@lru_cache(maxsize=256)
def sign_circuit(chunks: Chunks, as_bit: bool = False) -> SignCircuit:
    """The sign alone; with ``as_bit`` it always gets a stage, so that other circuits can go on with it."""
    wiring = Wiring()
    sign, _ = sign_formula(wiring, chunks)
    if not chunks.radices and not as_bit:
        return SignCircuit(wiring.circuit(), None, [Formula([term]) for term in sign.terms])
    (found,) = wiring.stage([sign])
    return SignCircuit(wiring.circuit(), found, [])


def gated_cost(count: int, bits: int, circuit: Circuit, single_dealer: bool = False) -> Cost:
    """Cost of a circuit that begins with :func:`sign_formula`."""
    chunks = sign_chunks(count, bits)
    return circuit_cost(count, circuit, chunks.monomials + 1, chunks.rows, single_dealer=single_dealer)


def top_bit(ctx: Context, x: Numbers, bits: int) -> Bits:
    """Bit ``bits - 1`` of x, that is, the sign of x modulo ``2**bits`` in two's complement.

    Paper: our own; the dealt two-summand form is known from ABY3, the chunk polynomials replace the adder's first
    levels (see :mod:`hedgerow.kernels.chunk`). Cost: :func:`top_bit_cost`. Reveals: nothing beyond shapes.
    """
    return _sign(ctx, x, bits).found(ctx)


def _sign(ctx: Context, x: Numbers, bits: int, single_dealer: bool = False) -> PendingSign:
    _check_bits(x.ring, bits, x.ring.bits)
    operand = SharedOperand.of(Dealing.of(ctx, len(x), single_dealer), x, bits)
    return PendingSign(operand, bits, len(x), single_dealer)


def top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`top_bit`: 14 bytes per item and party for 64 bits."""
    return gated_cost(count, bits, sign_circuit(sign_chunks(count, bits)).circuit)


def reveal_top_bit(ctx: Context, x: Numbers, bits: int) -> Words:
    """:func:`top_bit` opened to all three parties as one packed row; the last stage is opened at once.

    Cost: as many rounds as :func:`top_bit`, and another two bits per item in all. Reveals: exactly that bit: the two
    summands of it that are sent are masked by what the third party does not know.
    """
    sign = _sign(ctx, x, bits)
    if not sign.chunks.radices:
        return reveal_bits(ctx, sign.found(ctx))
    evaluation = sign.evaluation(ctx, sign_circuit(sign.chunks).circuit, opened=True)
    run(ctx, evaluation.steps())
    return evaluation.open_last()


def opened_top_bit_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`reveal_top_bit`."""
    chunks = sign_chunks(count, bits)
    if not chunks.radices:
        return top_bit_cost(count, bits) + Cost.even(1, 8 * words_for(count))
    return circuit_cost(count, sign_circuit(chunks).circuit, chunks.monomials + 1, chunks.rows, opened=True)


def product_sign(
    ctx: Context, xs: Sequence[Numbers], ys: Sequence[Numbers], bits: int, plus: Numbers | None = None
) -> Bits:
    """:func:`top_bit` of the inner product ``sum of xs[t] * ys[t]`` (plus a number), which is never shared itself.

    Paper: our own. Cost: :func:`product_sign_cost`, a round less than a product and a comparison. Reveals: nothing
    beyond shapes; see :class:`.carry.LocalOperand`.
    """
    return sign_of_products(ctx, xs, ys, bits, plus).found(ctx)


def sign_of_products(
    ctx: Context,
    xs: Sequence[Numbers],
    ys: Sequence[Numbers],
    bits: int,
    plus: Numbers | None = None,
    single_dealer: bool = False,
) -> PendingSign:
    """The sign of :func:`product_sign`, still to be found; with ``single_dealer``, one party deals however many there
    are."""
    ring, count = xs[0].ring, len(xs[0])
    _check_bits(ring, bits, ring.bits)
    summand = dot_summands(ctx, xs, ys)
    if plus is not None:
        summand = ring.add(summand, plus.left)
    operand = LocalOperand(Dealing.of(ctx, count, single_dealer), ring, summand, bits)
    return PendingSign(operand, bits, count, single_dealer)


def product_sign_cost(count: int, ring: Ring, bits: int) -> Cost:
    """Cost of :func:`product_sign`, however many terms."""
    return top_bit_cost(count, bits) + unshared_cost(count, ring)


def less_than(ctx: Context, x: Numbers, y: Numbers, bits: int) -> Bits:
    """The bit x < y for numbers of ``bits`` bits; more exactly, for |x - y| < 2**bits.

    Cost: :func:`less_than_cost`. Reveals: nothing beyond shapes.
    """
    return sign_of(ctx, x - y, bits).found(ctx)


def sign_of(ctx: Context, x: Numbers, bits: int, single_dealer: bool = False) -> PendingSign:
    """Whether x is negative, for |x| < 2**bits, still to be found."""
    _check_bits(x.ring, bits, x.ring.bits - 1)
    return _sign(ctx, x, bits + 1, single_dealer)


def less_than_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`less_than`."""
    return top_bit_cost(count, bits + 1)


def is_zero(ctx: Context, x: Numbers, bits: int) -> Bits:
    """The bit x = 0 modulo ``2**bits``. With x = A + B this says that A and B - 1 differ in every bit.

    Cost: :func:`equal_cost`. Reveals: nothing beyond shapes.
    """
    _check_bits(x.ring, bits, x.ring.bits)
    return zero_sum(ctx, SharedOperand.of(Dealing.of(ctx, len(x)), x, bits, minus=1), bits, len(x))


def zero_sum(ctx: Context, operand: SumOperand, bits: int, count: int) -> Bits:
    """Whether A + B is 0 modulo ``2**bits``, from an operand that has B - 1. Cost: :func:`equal_cost`."""
    chunks = Chunks.of(bits, False, count)
    circuit, found = _pass_circuit(chunks)
    evaluation = Evaluation(ctx, circuit, ChunkInputs(chunks, operand), dealer_blocks(count))
    run(ctx, evaluation.steps())
    return evaluation.shared([found])


@lru_cache(maxsize=256)
def _pass_circuit(chunks: Chunks) -> tuple[Circuit, Formula]:
    """From rows P of all chunks to whether all of them pass a carry on."""
    wiring = Wiring()
    bits = product_tree(wiring, wiring.inputs(chunks.rows), chunks.radices)
    found = wiring.stage([product(bits)])[0] if chunks.radices else bits[0]
    return wiring.circuit(), found


def equal(ctx: Context, x: Numbers, y: Numbers, bits: int) -> Bits:
    """The bit x = y for numbers of ``bits`` bits. Cost: :func:`equal_cost`. Reveals: nothing beyond shapes."""
    return is_zero(ctx, x - y, bits)


def equal_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`equal` and :func:`is_zero`."""
    chunks = Chunks.of(bits, False, count)
    return circuit_cost(count, _pass_circuit(chunks)[0], chunks.monomials, chunks.rows)
