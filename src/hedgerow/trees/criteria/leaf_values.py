"""What a leaf says: the mean of its targets, or its heaviest class."""

from collections.abc import Sequence

from ... import protocols as mpc
from ...engine import FREE, Context, Cost
from ...shares import RING32, RING64, Numbers, padded
from ..problem import MEAN_PLACES, Problem


def mean(ctx: Context, mass: Numbers, sums: Numbers, problem: Problem) -> Numbers:
    """⌊sum·2^places / mass⌋ in 2^64, by one long division: targets have fewer than ``target_bits`` bits, so the sum is
    below 2^target_bits times the mass. Where the mass is 0, in entries that are not leaves, it is 0."""
    bits, mass_bits = problem.target_bits, problem.widths.mass_bits
    found = mpc.fraction(ctx.step("divide"), sums, mass.scale(1 << bits), mass_bits + bits, bits + MEAN_PLACES)
    real = mpc.bit_not(ctx, mpc.is_zero(ctx.step("empty"), mass, mass_bits))
    return mpc.multiply_bit(ctx.step("real"), real, [found])[0]


def mean_cost(problem: Problem) -> Cost:
    """Cost of :func:`mean` for all leaves."""
    length, bits, mass_bits = problem.layer_length(problem.height), problem.target_bits, problem.widths.mass_bits
    cost = mpc.fraction_cost(length, mass_bits + bits, bits + MEAN_PLACES, RING64)
    return cost + mpc.equal_cost(length, mass_bits) + mpc.multiply_bit_cost(length, [RING64])


def heaviest(ctx: Context, columns: Sequence[Numbers], bits: int) -> Numbers:
    """The number of the first of the largest columns, item by item, in 2^32; ⌈log C⌉ levels of one comparison each."""
    count, length = len(columns[0]), padded(len(columns[0]))
    field = [(column.pad(length), mpc.constant(ctx, c, length, RING32)) for c, column in enumerate(columns)]
    while len(field) > 1:
        pairs = len(field) // 2
        a, b = ([Numbers.concatenate(k) for k in zip(*field[side : 2 * pairs : 2], strict=True)] for side in (0, 1))
        lower = mpc.less_than(ctx.step("less"), a[0], b[0], bits)
        key, number = mpc.select(ctx.step("choose"), lower, b, a)
        field = [*zip(key.pieces(length), number.pieces(length), strict=True), *field[2 * pairs :]]
    return field[0][1][:count]


def heaviest_cost(problem: Problem) -> Cost:
    """Cost of :func:`heaviest` for all leaves."""
    field, cost = problem.classes, FREE
    while field > 1:
        count = field // 2 * padded(problem.layer_length(problem.height))
        cost += mpc.less_than_cost(count, problem.widths.mass_bits) + mpc.multiply_bit_cost(count, [RING64, RING32])
        field = (field + 1) // 2
    return cost
