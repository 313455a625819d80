"""Moving packed bits about: every other bit, riffling, shifting by one, joining and cutting rows. Local, but for what
takes a context.

All shares here have a multiple of 64 items (see :func:`padded`), so that rows can be laid end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..kernels import bits as bit_kernels
from ..primitives import bit_and, bit_to_ring
from ..sharing import ArithmeticShare, BinaryShare, Context, Ring
from ..sharing.ring import Words


def padded(count: int) -> int:
    """The next multiple of 64."""
    return (count + 63) // 64 * 64


def _both(x: BinaryShare, change: Callable[[Words], Words], count: int) -> BinaryShare:
    return BinaryShare(change(x.left), change(x.right), count)


def pack_rows(bits: Words) -> Words:
    """Rows of single bits as packed words, zeros at the end."""
    rows, count = bits.shape
    out = np.zeros((rows, padded(count) // 64), np.uint64)
    out.view(np.uint8)[:, : (count + 7) // 8] = np.packbits(bits, axis=1, bitorder="little")
    return out


def choose_rows(ctx: Context, bit: BinaryShare, if_one: BinaryShare, if_zero: BinaryShare) -> BinaryShare:
    """Rows of bits by a bit: ``if_zero ^ bit & (if_one ^ if_zero)``; one round."""
    repeated = BinaryShare.stack([bit] * if_one.rows)
    return if_zero ^ bit_and(ctx, repeated, if_one ^ if_zero)


def every_other(x: BinaryShare, odd: int) -> BinaryShare:
    """The bits at even (``odd`` = 0) or odd places, padded with zeros."""

    def change(words: Words) -> Words:
        out = np.empty((words.shape[0], (words.shape[1] + 1) // 2), np.uint64)
        bit_kernels.every_other(words, np.uint64(odd), out)
        return out

    return _both(x, change, padded(x.count // 2))


def following(x: BinaryShare) -> BinaryShare:
    """Every place gets the next place's bit; the last gets 0."""

    def change(words: Words) -> Words:
        out = words >> np.uint64(1)
        out[:, :-1] |= words[:, 1:] << np.uint64(63)
        return out

    return _both(x, change, x.count)


def preceding(x: BinaryShare) -> BinaryShare:
    """Every place gets the bit of the place before; the first gets 0."""

    def change(words: Words) -> Words:
        out = words << np.uint64(1)
        out[:, 1:] |= words[:, :-1] >> np.uint64(63)
        return out

    return _both(x, change, x.count)


def end_to_end(parts: Sequence[BinaryShare]) -> BinaryShare:
    """All rows of all parts as one row."""
    left = np.concatenate([part.left.reshape(-1) for part in parts])[None]
    right = np.concatenate([part.right.reshape(-1) for part in parts])[None]
    return BinaryShare(left, right, 64 * left.size)


def numbers_of_rows(ctx: Context, rows: BinaryShare, ring: Ring) -> ArithmeticShare:
    """Every item's bits, a row each, lowest first, as a number; as many items as the rows have words for.

    Cost: that of :func:`bit_to_ring` for all bits. Reveals: nothing beyond shapes.
    """
    flat = bit_to_ring(ctx, end_to_end([rows]), ring)
    count = len(flat) // rows.rows
    return ArithmeticShare.total([flat[k * count : (k + 1) * count].scale(1 << k) for k in range(rows.rows)])


def cut(x: BinaryShare, rows: int) -> BinaryShare:
    """One row as several of equal length."""
    return BinaryShare(x.left.reshape(rows, -1), x.right.reshape(rows, -1), x.count // rows)


def span(x: BinaryShare, start: int, stop: int) -> BinaryShare:
    """The items from ``start`` to ``stop`` of every row; both are multiples of 64."""
    words = slice(start // 64, stop // 64)
    return BinaryShare(x.left[:, words], x.right[:, words], stop - start)


def rows_of(x: BinaryShare, start: int, stop: int) -> BinaryShare:
    """Some of the rows."""
    return BinaryShare(x.left[start:stop], x.right[start:stop], x.count)


def pad(x: ArithmeticShare, length: int) -> ArithmeticShare:
    """Zeros appended up to ``length`` items."""
    extra = length - len(x)
    if extra == 0:
        return x
    zeros = x.ring.zeros(extra)
    return ArithmeticShare(np.concatenate([x.left, zeros]), np.concatenate([x.right, zeros]), x.ring)
