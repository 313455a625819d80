"""The first step of every comparison: carries of A + B where one party knows A and the other two know B.

The bits of A and B are cut into chunks of three or four. For a chunk of three, the carry it generates (G) and whether
it passes a carry on (P) are polynomials in the bits of A with coefficients in the bits of B::

    G = a0·b0b1b2 ^ a1·b1b2 ^ a2·b2 ^ a0a1·b0b2 ^ a0a2·b0b1 ^ a1a2·b1 ^ a0a1a2·b0
    P = b0b1b2 ^ a0·b1b2 ^ a1·b0b2 ^ a0a1·b2 ^ a2·b0b1 ^ a0a2·b1 ^ a1a2·b0 ^ a0a1a2

so whoever knows A shares its seven monomials, and the two that know B evaluate both polynomials on those shares
locally. A chunk of fewer bits counts as one whose missing high bits have a = 0 and b = 1. A fourth bit gives
G' = a3·b3 ^ (a3 ^ b3)·G and P' = (a3 ^ b3)·P, so that the same polynomials are evaluated twice: on the seven monomials,
and on those times a3.

Monomial number S - 1 of a chunk is the product of the bits in the set S. The highest ``fours`` chunks have four bits,
the lowest one has ``lowest``, the others have three.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel


@njit(inline="always")
def chunk_count(bits: Any, lowest: Any, fours: Any) -> Any:
    """How many chunks ``bits`` bits have."""
    if lowest == 4:
        return fours
    return (bits - lowest - 4 * fours) // 3 + 1 + fours


@njit(inline="always")
def chunk_size(chunk: Any, chunks: Any, lowest: Any, fours: Any) -> Any:
    """How many bits a chunk has."""
    if chunk == 0:
        return lowest
    return 4 if chunk >= chunks - fours else 3


@kernel("void(u8[:,:],i8,i8,u8[:,::1],u8[:,:])")
def mask_monomials(a: Any, lowest: Any, fours: Any, mask: Any, out: Any) -> None:
    """Write all chunk monomials of ``a``'s rows, XORed with ``mask``."""
    chunks = chunk_count(a.shape[0], lowest, fours)
    for w in range(a.shape[1]):
        row = 0
        bit = 0
        for c in range(chunks):
            size = chunk_size(c, chunks, lowest, fours)
            a0 = a[bit, w]
            out[row, w] = a0 ^ mask[row, w]
            if size >= 2:
                a1 = a[bit + 1, w]
                a01 = a0 & a1
                out[row + 1, w] = a1 ^ mask[row + 1, w]
                out[row + 2, w] = a01 ^ mask[row + 2, w]
            if size >= 3:
                a2 = a[bit + 2, w]
                out[row + 3, w] = a2 ^ mask[row + 3, w]
                out[row + 4, w] = (a0 & a2) ^ mask[row + 4, w]
                out[row + 5, w] = (a1 & a2) ^ mask[row + 5, w]
                out[row + 6, w] = (a01 & a2) ^ mask[row + 6, w]
            if size == 4:
                a3 = a[bit + 3, w]
                a23 = a2 & a3
                out[row + 7, w] = a3 ^ mask[row + 7, w]
                out[row + 8, w] = (a0 & a3) ^ mask[row + 8, w]
                out[row + 9, w] = (a1 & a3) ^ mask[row + 9, w]
                out[row + 10, w] = (a01 & a3) ^ mask[row + 10, w]
                out[row + 11, w] = a23 ^ mask[row + 11, w]
                out[row + 12, w] = (a0 & a23) ^ mask[row + 12, w]
                out[row + 13, w] = (a1 & a23) ^ mask[row + 13, w]
                out[row + 14, w] = (a01 & a23) ^ mask[row + 14, w]
            row += (1 << size) - 1
            bit += size


@njit(inline="always")
def generated(m: Any, b: Any) -> Any:
    """G of three bits."""
    m0, m1, m2, m3, m4, m5, m6 = m
    b0, b1, b2 = b
    return (m0 & b0 & b1 & b2) ^ (m1 & b1 & b2) ^ (m2 & b0 & b2) ^ (m3 & b2) ^ (m4 & b0 & b1) ^ (m5 & b1) ^ (m6 & b0)


@njit(inline="always")
def passed_on(m: Any, b: Any) -> Any:
    """P of three bits, except for the term without any a."""
    m0, m1, m2, m3, m4, m5, m6 = m
    b0, b1, b2 = b
    return (m0 & b1 & b2) ^ (m1 & b0 & b2) ^ (m2 & b2) ^ (m3 & b0 & b1) ^ (m4 & b1) ^ (m5 & b0) ^ m6


@njit(inline="always")
def load_seven(x: Any, row: Any, w: Any) -> Any:
    """The monomials of three bits."""
    return x[row, w], x[row + 1, w], x[row + 2, w], x[row + 3, w], x[row + 4, w], x[row + 5, w], x[row + 6, w]


@njit(inline="always")
def load_chunk(x: Any, b: Any, row: Any, bit: Any, size: Any, w: Any) -> Any:
    """The monomials and rows of b of a chunk's low three bits, missing ones as a = 0, b = 1."""
    zero = np.uint64(0)
    ones = ~zero
    if size >= 3:
        return load_seven(x, row, w), (b[bit, w], b[bit + 1, w], b[bit + 2, w])
    if size == 2:
        return (x[row, w], x[row + 1, w], x[row + 2, w], zero, zero, zero, zero), (b[bit, w], b[bit + 1, w], ones)
    return (x[row, w], zero, zero, zero, zero, zero, zero), (b[bit, w], ones, ones)


@kernel("void(u8[:,:],u8[:,:],i8,i8,b1,b1,u8[:,::1],u8[:,:])")
def evaluate_chunks(
    monomials: Any, b: Any, lowest: Any, fours: Any, constant: Any, carries: Any, mask: Any, out: Any
) -> None:
    """Evaluate the chunk polynomials on one party's summand of the monomials and mask the result.

    With ``carries``: rows G of every chunk, then P of every chunk but the lowest. Without: P of every chunk.
    ``constant`` is set at the one party that adds the terms without any a.
    """
    chunks = chunk_count(b.shape[0], lowest, fours)
    first_p = chunks - 1 if carries else 0
    for w in range(b.shape[1]):
        row = 0
        bit = 0
        for c in range(chunks):
            size = chunk_size(c, chunks, lowest, fours)
            low, known = load_chunk(monomials, b, row, bit, size, w)
            if carries:
                g = generated(low, known)
                if size == 4:
                    g = (b[bit + 3, w] & (monomials[row + 7, w] ^ g)) ^ generated(
                        load_seven(monomials, row + 8, w), known
                    )
                out[c, w] = g ^ mask[c, w]
            if c > 0 or not carries:
                p = passed_on(low, known)
                all_known = known[0] & known[1] & known[2]
                if constant:
                    p ^= all_known
                if size == 4:
                    high = passed_on(load_seven(monomials, row + 8, w), known)
                    p = (b[bit + 3, w] & p) ^ high ^ (all_known & monomials[row + 7, w])
                out[first_p + c, w] = p ^ mask[first_p + c, w]
            row += (1 << size) - 1
            bit += size
