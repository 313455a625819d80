"""Local parts of the arithmetic protocols in the rings of one word: integers modulo 2^16, 2^32 and 2^64.

Each kernel is one pass over memory. ``left`` and ``right`` are the two summands a party holds; masks come from the
streams it shares with a neighbour. Bits arrive packed, 64 items to a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel


@njit(inline="always")
def unpack(words: Any, flags: Any) -> None:
    """Packed bits one by one, so that what is done with them is plain arithmetic on neighbours."""
    for w in range((flags.shape[0] + 63) >> 6):
        word = words[w]
        part = flags[w << 6 : (w << 6) + 64]
        for k in range(part.shape[0]):
            part[k] = (word >> np.uint64(k)) & np.uint64(1)


@kernel(
    "void(u2[::1],u2[::1],u2[::1],u2[::1],u2[::1],u2[::1],u2[::1],b1)",
    "void(u4[::1],u4[::1],u4[::1],u4[::1],u4[::1],u4[::1],u4[::1],b1)",
    "void(u8[::1],u8[::1],u8[::1],u8[::1],u8[::1],u8[::1],u8[::1],b1)",
)
def product(xl: Any, xr: Any, yl: Any, yr: Any, mask_left: Any, mask_right: Any, out: Any, first: Any) -> None:
    """One summand of a replicated inner product: ``out (+)= xl*yl + xl*yr + xr*yl``, masked when ``first``."""
    if first:
        for i in range(out.shape[0]):
            out[i] = xl[i] * (yl[i] + yr[i]) + xr[i] * yl[i] + mask_left[i] - mask_right[i]
    else:
        for i in range(out.shape[0]):
            out[i] += xl[i] * (yl[i] + yr[i]) + xr[i] * yl[i]


@kernel(
    "void(u8[::1],u8[::1],u2[::1],u2[::1])",
    "void(u8[::1],u8[::1],u4[::1],u4[::1])",
    "void(u8[::1],u8[::1],u8[::1],u8[::1])",
)
def deal_bits(left: Any, right: Any, mask: Any, out: Any) -> None:
    """``out = (left ^ right) - mask`` for packed bits lifted into the ring."""
    for i in range(out.shape[0]):
        bit = ((left[i >> 6] ^ right[i >> 6]) >> np.uint64(i & 63)) & np.uint64(1)
        out[i] = bit - mask[i]


@kernel(
    "void(u2[::1],u8[::1],b1,u2[::1],u2[::1])",
    "void(u4[::1],u8[::1],b1,u4[::1],u4[::1])",
    "void(u8[::1],u8[::1],b1,u8[::1],u8[::1])",
)
def flip_dealt(dealt: Any, known: Any, constant: Any, mask: Any, out: Any) -> None:
    """``out = dealt * (1 - 2 * known) (+ known) - mask``: this party's part of ``dealt XOR known``."""
    for i in range(out.shape[0]):
        bit = (known[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
        value = dealt[i] * (np.uint64(1) - np.uint64(2) * bit)
        if constant:
            value += bit
        out[i] = value - mask[i]


@kernel(
    "void(u8[:,::1],u8[:,::1],u2[:,:,::1],u2[:,:,::1],u2[:,:,::1],u2[:,:,::1])",
    "void(u8[:,::1],u8[:,::1],u4[:,:,::1],u4[:,:,::1],u4[:,:,::1],u4[:,:,::1])",
    "void(u8[:,::1],u8[:,::1],u8[:,:,::1],u8[:,:,::1],u8[:,:,::1],u8[:,:,::1])",
)
def deal_table(bits_left: Any, bits_right: Any, left: Any, right: Any, mask: Any, out: Any) -> None:
    """The dealer's products of what it knows, by term and column: the bit itself, then the bit times every column.

    ``out[t, 0] = bit[t] - mask[t, 0]`` and ``out[t, 1 + c] = bit[t] * (left[t, c] + right[t, c]) - mask[t, 1 + c]``.
    """
    flags = np.empty(out.shape[2], out.dtype)
    for t in range(out.shape[0]):
        unpack(bits_left[t] ^ bits_right[t], flags)
        for i in range(out.shape[2]):
            out[t, 0, i] = flags[i] - mask[t, 0, i]
        for c in range(left.shape[1]):
            for i in range(out.shape[2]):
                out[t, 1 + c, i] = flags[i] * (left[t, c, i] + right[t, c, i]) - mask[t, 1 + c, i]


@kernel(
    "void(u2[:,:,::1],u8[:,::1],u2[:,:,::1],u2[:,:,::1],b1,u2[:,::1],u2[:,::1])",
    "void(u4[:,:,::1],u8[:,::1],u4[:,:,::1],u4[:,:,::1],b1,u4[:,::1],u4[:,::1])",
    "void(u8[:,:,::1],u8[:,::1],u8[:,:,::1],u8[:,:,::1],b1,u8[:,::1],u8[:,::1])",
)
def answer_table(dealt: Any, known: Any, common: Any, own: Any, constant: Any, mask: Any, out: Any) -> None:
    """One answering party's part of the sum over the terms of ``(dealt bit XOR known) * x``, masked, for every column.

    ``common`` is the summand of x both answering parties know, ``own`` the one this party shares with the dealer.
    """
    share = np.uint64(1) if constant else np.uint64(0)
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[c, i] = np.uint64(0) - mask[c, i]
    flags = np.empty(out.shape[1], out.dtype)
    for t in range(dealt.shape[0]):
        unpack(known[t], flags)
        for c in range(out.shape[0]):
            for i in range(out.shape[1]):
                value = dealt[t, 1 + c, i] + dealt[t, 0, i] * common[t, c, i]
                value *= np.uint64(1) - np.uint64(2) * flags[i]
                out[c, i] += value + flags[i] * (own[t, c, i] + share * common[t, c, i])


@kernel(
    "void(u2[::1],u2[::1],u2[::1],u2[::1])",
    "void(u8[::1],u2[::1],u8[::1],u8[::1])",
    "void(u4[::1],u4[::1],u4[::1],u4[::1])",
    "void(u8[::1],u8[::1],u8[::1],u8[::1])",
)
def answer_wide(dealt_top: Any, known: Any, mask: Any, out: Any) -> None:
    """``out = dealt_top * (1 - top bit of known) - mask``."""
    shift = np.uint64(8 * known.itemsize - 1)
    for i in range(out.shape[0]):
        keep = np.uint64(1) - (np.uint64(known[i]) >> shift)
        out[i] = keep * dealt_top[i] - mask[i]
