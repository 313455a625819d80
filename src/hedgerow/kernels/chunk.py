"""The first step of every comparison: carries of A + B where one party knows A and the other two know B.

The bits of A and B are cut into chunks of three. For a chunk, the carry it generates (G) and whether it passes a carry
on (P) are polynomials in the bits of A with coefficients in the bits of B::

    G = a0·b0b1b2 ^ a1·b1b2 ^ a2·b2 ^ a0a1·b0b2 ^ a0a2·b0b1 ^ a1a2·b1 ^ a0a1a2·b0
    P = b0b1b2 ^ a0·b1b2 ^ a1·b0b2 ^ a0a1·b2 ^ a2·b0b1 ^ a0a2·b1 ^ a1a2·b0 ^ a0a1a2

so whoever knows A shares its seven monomials, and the two that know B evaluate both polynomials on those shares
locally. A chunk of fewer bits counts as one whose missing high bits have a = 0 and b = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel


@kernel("void(u8[:,:],i8,u8[:,::1],u8[:,:])")
def mask_monomials(a: Any, lowest: Any, mask: Any, out: Any) -> None:
    """Write all chunk monomials of ``a``'s rows, XORed with ``mask``; the lowest chunk has ``lowest`` bits."""
    chunks = (a.shape[0] - lowest) // 3 + 1
    for w in range(a.shape[1]):
        row = 0
        bit = 0
        for c in range(chunks):
            size = lowest if c == 0 else 3
            a0 = a[bit, w]
            out[row, w] = a0 ^ mask[row, w]
            if size >= 2:
                a1 = a[bit + 1, w]
                out[row + 1, w] = a1 ^ mask[row + 1, w]
                out[row + 2, w] = (a0 & a1) ^ mask[row + 2, w]
            if size == 3:
                a2 = a[bit + 2, w]
                out[row + 3, w] = a2 ^ mask[row + 3, w]
                out[row + 4, w] = (a0 & a2) ^ mask[row + 4, w]
                out[row + 5, w] = (a1 & a2) ^ mask[row + 5, w]
                out[row + 6, w] = (a0 & a1 & a2) ^ mask[row + 6, w]
            row += (1 << size) - 1
            bit += size


@njit(inline="always")
def load_chunk(monomials: Any, b: Any, row: Any, bit: Any, size: Any, w: Any) -> Any:
    """The seven monomial rows and three rows of b of a chunk, missing high bits as a = 0, b = 1."""
    zero = np.uint64(0)
    ones = ~zero
    m1 = m2 = m3 = m4 = m5 = m6 = zero
    b1 = b2 = ones
    m0 = monomials[row, w]
    b0 = b[bit, w]
    if size >= 2:
        m1, m2, b1 = monomials[row + 1, w], monomials[row + 2, w], b[bit + 1, w]
    if size == 3:
        m3, m4, m5, m6 = monomials[row + 3, w], monomials[row + 4, w], monomials[row + 5, w], monomials[row + 6, w]
        b2 = b[bit + 2, w]
    return m0, m1, m2, m3, m4, m5, m6, b0, b1, b2


@kernel("void(u8[:,:],u8[:,:],i8,b1,b1,u8[:,::1],u8[:,:])")
def evaluate_chunks(monomials: Any, b: Any, lowest: Any, constant: Any, carries: Any, mask: Any, out: Any) -> None:
    """Evaluate the chunk polynomials on one party's summand of the monomials and mask the result.

    With ``carries``: rows G of every chunk, then P of every chunk but the lowest. Without: P of every chunk.
    ``constant`` tells the one party that adds the terms without any a.
    """
    chunks = (b.shape[0] - lowest) // 3 + 1
    first_p = chunks - 1 if carries else 0
    for w in range(b.shape[1]):
        row = 0
        bit = 0
        for c in range(chunks):
            size = lowest if c == 0 else 3
            m0, m1, m2, m3, m4, m5, m6, b0, b1, b2 = load_chunk(monomials, b, row, bit, size, w)
            b01, b02, b12 = b0 & b1, b0 & b2, b1 & b2
            if carries:
                g = (m0 & b01 & b2) ^ (m1 & b12) ^ (m2 & b02) ^ (m3 & b2)
                g ^= (m4 & b01) ^ (m5 & b1) ^ (m6 & b0)
                out[c, w] = g ^ mask[c, w]
            if c > 0 or not carries:
                p = (m0 & b12) ^ (m1 & b02) ^ (m2 & b2) ^ (m3 & b01) ^ (m4 & b1) ^ (m5 & b0) ^ m6
                if constant:
                    p ^= b01 & b2
                out[first_p + c, w] = p ^ mask[first_p + c, w]
            row += (1 << size) - 1
            bit += size
