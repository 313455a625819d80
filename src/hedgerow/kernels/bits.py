"""Bit slicing: 64 items to a word, one row of words per bit position.

Item ``i`` of a bit vector lives in word ``i // 64`` at bit ``i % 64``. All layouts here are ``uint64[rows, words]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel


@njit(inline="always")
def transpose_block(block: Any) -> None:
    """Transpose a 64×64 bit matrix in place: six rounds of swapping ever smaller off-diagonal squares."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width > 0:
        shift = np.uint64(width)
        for base in range(0, 64, 2 * width):
            for k in range(base, base + width):
                swap = ((block[k] >> shift) ^ block[k + width]) & mask
                block[k] ^= swap << shift
                block[k + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(width)


@kernel("void(u2[::1],u8[:,:])", "void(u4[::1],u8[:,:])", "void(u8[::1],u8[:,:])")
def slice_items(items: Any, rows: Any) -> None:
    """Write the low ``len(rows)`` bits of every item as rows of packed words; bits past the last item are 0."""
    block = np.empty(64, np.uint64)
    count = items.shape[0]
    for word in range(rows.shape[1]):
        start = 64 * word
        size = min(64, count - start)
        for k in range(size):
            block[k] = items[start + k]
        for k in range(size, 64):
            block[k] = 0
        transpose_block(block)
        for bit in range(rows.shape[0]):
            rows[bit, word] = block[bit]


@kernel("void(u8[:,:],u4[::1])", "void(u8[:,:],u8[::1])")
def gather_items(rows: Any, items: Any) -> None:
    """Inverse of :func:`slice_items`: item ``i`` gets bit ``i`` of every row, row 0 lowest."""
    block = np.empty(64, np.uint64)
    count = items.shape[0]
    for word in range(rows.shape[1]):
        start = 64 * word
        for bit in range(rows.shape[0]):
            block[bit] = rows[bit, word]
        for bit in range(rows.shape[0], 64):
            block[bit] = 0
        transpose_block(block)
        for k in range(min(64, count - start)):
            items[start + k] = block[k]


@njit(inline="always")
def squeeze_even(word: Any) -> Any:
    """The 32 bits at even places of a word, next to each other."""
    word &= np.uint64(0x5555555555555555)
    word = (word | word >> np.uint64(1)) & np.uint64(0x3333333333333333)
    word = (word | word >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word | word >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    word = (word | word >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (word | word >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)


@kernel("void(u8[:,:],u8,u8[:,::1])")
def every_other(rows: Any, odd: Any, out: Any) -> None:
    """The bits of every row at even (``odd`` = 0) or odd places; ``out`` has half the words, rounded up."""
    for r in range(out.shape[0]):
        for w in range(out.shape[1]):
            value = squeeze_even(rows[r, 2 * w] >> odd)
            if 2 * w + 1 < rows.shape[1]:
                value |= squeeze_even(rows[r, 2 * w + 1] >> odd) << np.uint64(32)
            out[r, w] = value


@kernel("void(u8[:,::1],u8[:,::1],i8[::1],i8[::1],i8[::1],u8[:,::1],u8[:,::1],u8[:,:])")
def and_gates(left: Any, right: Any, base: Any, x: Any, y: Any, mask_left: Any, mask_right: Any, out: Any) -> None:
    """A layer of replicated AND gates over rows: ``out[g] = state[base[g]] ^ state[x[g]] & state[y[g]]``.

    ``base[g] < 0`` means no XOR term. Only this party's summand is computed, masked by its share of zero.
    """
    for g in range(out.shape[0]):
        b, i, j = base[g], x[g], y[g]
        for w in range(out.shape[1]):
            z = (left[i, w] & (left[j, w] ^ right[j, w])) ^ (right[i, w] & left[j, w])
            z ^= mask_left[g, w] ^ mask_right[g, w]
            if b >= 0:
                z ^= left[b, w]
            out[g, w] = z
