"""Products of masked bits, packed 64 items to a word.

A row x is masked: x = v ^ m. A product of k rows is the exclusive or, over all sets T of them, of the masks in T times
the values outside of T. Two parties that know all values and have summands of all products of masks get summands of the
product locally, by contracting one row after the other: with s[T] for every set T of the rows up to the i-th, s[T]
becomes v_i·s[T] ^ s[T with i].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel

BLOCK = 128
"""Words worked on at once, so that all sets of a product stay in the fastest cache."""
LARGEST = 5
"""The most rows of a product."""


@kernel("void(u8[:,::1],i8[::1],i8[::1],u8[:,::1],u8[:,:])")
def mask_products(masks: Any, first: Any, rows: Any, mask: Any, out: Any) -> None:
    """Write every product of the rows ``rows[first[p]:first[p + 1]]`` of ``masks``, XORed with ``mask``."""
    for p in range(out.shape[0]):
        x, y = rows[first[p]], rows[first[p] + 1]
        for w in range(out.shape[1]):
            out[p, w] = masks[x, w] & masks[y, w]
        for i in range(first[p] + 2, first[p + 1]):
            x = rows[i]
            for w in range(out.shape[1]):
                out[p, w] &= masks[x, w]
        for w in range(out.shape[1]):
            out[p, w] ^= mask[p, w]


@njit(inline="always")
def copy_words(source: Any, row: Any, start: Any, size: Any, out: Any) -> None:
    """Some words of a row."""
    for w in range(size):
        out[w] = source[row, start + w]


@kernel("void(u8[:,::1],u8[:,::1],u8[:,::1],i8[::1],i8[::1],i8[::1],i8[::1],b1,u8[:,:],u8[:,:])")
def evaluate_products(
    products: Any,
    masks: Any,
    values: Any,
    outputs: Any,
    first: Any,
    rows: Any,
    places: Any,
    constant: Any,
    mask: Any,
    out: Any,
) -> None:
    """Summands of sums of products, masked: row o is the sum of the terms ``outputs[o]:outputs[o + 1]``.

    Term t multiplies the rows ``rows[first[t]:first[t + 1]]``; set number S of them is found at ``places[32 * t + S]``,
    among this party's ``masks`` if it has one element and else among its ``products``. A term without rows is 1.
    ``constant`` is set at the one party that adds the terms without any mask.
    """
    scratch = np.empty((1 << LARGEST, BLOCK), np.uint64)
    whole = ~np.uint64(0) if constant else np.uint64(0)
    for start in range(0, out.shape[1], BLOCK):
        size = min(BLOCK, out.shape[1] - start)
        for o in range(out.shape[0]):
            for w in range(size):
                out[o, start + w] = mask[o, start + w]
            for t in range(outputs[o], outputs[o + 1]):
                count = first[t + 1] - first[t]
                if count == 0:
                    for w in range(size):
                        out[o, start + w] ^= whole
                    continue
                for w in range(size):
                    scratch[0, w] = whole
                for s in range(1, 1 << count):
                    if s & (s - 1):
                        copy_words(products, places[32 * t + s], start, size, scratch[s])
                    else:
                        copy_words(masks, places[32 * t + s], start, size, scratch[s])
                half = 1 << (count - 1)
                for i in range(count - 1, -1, -1):
                    row = rows[first[t] + i]
                    for s in range(half):
                        low, high = scratch[s], scratch[half + s]
                        for w in range(size):
                            low[w] = (low[w] & values[row, start + w]) ^ high[w]
                    half >>= 1
                for w in range(size):
                    out[o, start + w] ^= scratch[0, w]
