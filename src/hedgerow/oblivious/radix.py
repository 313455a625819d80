"""Stable radix sort of shared bits: best for very narrow keys, and the only way for keys too wide for comparisons."""

from ..engine import FREE, Context, Cost
from ..protocols import ShuffleJob, bit_to_ring, bit_to_ring_cost, draw_shuffle, run_shuffles, shuffle_cost
from ..shares import RING32, Bits, Numbers, padded
from .destination import digit_destinations, digit_destinations_cost
from .permutation import fetch, place

DIGIT = 2
"""Bits sorted in one pass; see docs/decisions/0002-sorting.md for the measurement."""


def radix_permutation(ctx: Context, keys: Bits, digit: int = DIGIT, first: int = 0) -> Numbers:
    """The permutation that sorts items stably by ``keys.rows`` bits, row 0 lowest.

    Paper: AHIKNPT22. Cost: :func:`radix_cost`. Reveals: in every pass but the first, the current permutation under a
    fresh shuffle, which is a uniform permutation.
    """
    count = keys.count
    permutation = digit_destinations(ctx.step("digit"), _ring_bits(ctx, keys.some_rows(0, digit), count))
    for low in range(digit, keys.rows, digit):
        packed = keys.some_rows(low, low + digit).to_bytes(count)
        shuffle = draw_shuffle(ctx, count, first + low // digit)
        ((places, moved),) = run_shuffles(ctx.step("move"), [ShuffleJob(shuffle, [permutation, packed], opened=(0,))])
        rows = Bits.of_bytes([place(moved, places)], min(digit, keys.rows - low))
        target = digit_destinations(ctx.step("digit"), _ring_bits(ctx, rows, count))
        ((permutation,),) = run_shuffles(ctx.step("back"), [ShuffleJob(shuffle, [fetch(target, places)])], undo=True)
    return permutation


def _ring_bits(ctx: Context, rows: Bits, count: int) -> list[Numbers]:
    """The rows as numbers, converted in one go: the rows are laid end to end."""
    numbers = bit_to_ring(ctx.step("bits"), Bits.end_to_end([rows]), RING32)
    return [numbers[row * padded(count) : row * padded(count) + count] for row in range(rows.rows)]


def radix_cost(count: int, bits: int, digit: int = DIGIT, first: int = 0) -> Cost:
    """Cost of :func:`radix_permutation`."""
    cost = FREE
    for low in range(0, bits, digit):
        width = min(digit, bits - low)
        cost += bit_to_ring_cost(width * padded(count), RING32) + digit_destinations_cost(count, width)
        if low:
            role = (first + low // digit) % 3
            cost += shuffle_cost(count, role, [1], [4]) + shuffle_cost(count, role, [4], undo=True)
    return cost
