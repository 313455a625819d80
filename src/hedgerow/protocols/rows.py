"""Rows of bits: choosing between them, and the numbers they spell."""

from ..engine import Context
from ..schemes.replicated.gate import bit_and
from ..schemes.replicated.select import bit_to_ring
from ..shares import Bits, Numbers, Ring


def choose_rows(ctx: Context, bit: Bits, if_one: Bits, if_zero: Bits) -> Bits:
    """Rows of bits by a bit: ``if_zero ^ bit & (if_one ^ if_zero)``; one round."""
    return if_zero ^ bit_and(ctx, bit.times(if_one.rows), if_one ^ if_zero)


def numbers_of_rows(ctx: Context, rows: Bits, ring: Ring) -> Numbers:
    """Every item's bits, a row each, lowest first, as a number; as many items as the rows have words for.

    Cost: that of :func:`bit_to_ring` for all bits. Reveals: nothing beyond shapes.
    """
    flat = bit_to_ring(ctx, Bits.end_to_end([rows]), ring)
    bits = flat.pieces(len(flat) // rows.rows)
    return Numbers.total([bit.scale(1 << k) for k, bit in enumerate(bits)])
