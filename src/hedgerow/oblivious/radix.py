"""Stable radix sort of shared bits: the winner for very narrow keys, and the way for keys too wide for comparisons."""

from __future__ import annotations

import numpy as np

from ..kernels import bits as bit_kernels
from ..primitives import Cost, bit_to_ring, bit_to_ring_cost
from ..primitives.cost import FREE
from ..sharing import RING32, ArithmeticShare, BinaryShare, ByteShare, Context, words_for
from ..sharing.ring import Words
from .destination import digit_destinations, digit_destinations_cost
from .permutation import fetch, place
from .shuffle import Load, draw_shuffle, shuffle_cost, shuffle_loads

DIGIT = 2
"""Bits sorted in one pass; see docs/adr/0002-sorting.md for the measurement."""


def radix_permutation(ctx: Context, keys: BinaryShare, digit: int = DIGIT, first: int = 0) -> ArithmeticShare:
    """The permutation that sorts items stably by ``keys.rows`` bits, row 0 lowest.

    Paper: AHIKNPT22. Cost: :func:`radix_cost`. Reveals: in every pass but the first, the current permutation under a
    fresh shuffle, which is a uniform permutation.
    """
    count = keys.count
    permutation = digit_destinations(ctx.step("digit"), _ring_bits(ctx, keys.left[:digit], keys.right[:digit], count))
    for low in range(digit, keys.rows, digit):
        packed = ByteShare(_items(keys.left[low : low + digit], count), _items(keys.right[low : low + digit], count))
        width = min(digit, keys.rows - low)
        shuffle = draw_shuffle(ctx, count, first + low // digit)
        ((places, moved),) = shuffle_loads(ctx.step("move"), [Load(shuffle, [permutation, packed], opened=(0,))])
        ordered = place(moved, places)
        rows_left, rows_right = _rows(ordered.left, width), _rows(ordered.right, width)
        target = digit_destinations(ctx.step("digit"), _ring_bits(ctx, rows_left, rows_right, count))
        ((permutation,),) = shuffle_loads(ctx.step("back"), [Load(shuffle, [fetch(target, places)])], undo=True)
    return permutation


def _ring_bits(ctx: Context, left: Words, right: Words, count: int) -> list[ArithmeticShare]:
    """The rows as numbers, converted in one go: the rows are laid end to end."""
    flat = BinaryShare(left.reshape(1, -1), right.reshape(1, -1), 64 * left.size)
    numbers = bit_to_ring(ctx.step("bits"), flat, RING32)
    stride = 64 * words_for(count)
    return [numbers[row * stride : row * stride + count] for row in range(len(left))]


def _items(rows: Words, count: int) -> Words:
    """Packed rows as one byte an item."""
    items = np.empty(count, np.uint32)
    bit_kernels.gather_items(rows, items)
    return items.astype(np.uint8)


def _rows(items: Words, width: int) -> Words:
    """The inverse of :func:`_items`."""
    rows = np.empty((width, words_for(len(items))), np.uint64)
    bit_kernels.slice_items(items.astype(np.uint32), rows)
    return rows


def radix_cost(count: int, bits: int, digit: int = DIGIT, first: int = 0) -> Cost:
    """Cost of :func:`radix_permutation`."""
    padded = 64 * words_for(count)
    cost = FREE
    for low in range(0, bits, digit):
        width = min(digit, bits - low)
        cost += bit_to_ring_cost(width * padded, RING32) + digit_destinations_cost(count, width)
        if low:
            role = (first + low // digit) % 3
            cost += shuffle_cost(count, role, [1], [4]) + shuffle_cost(count, role, [4], undo=True)
    return cost
