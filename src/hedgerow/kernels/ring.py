"""Local parts of the arithmetic protocols in the rings of one word: integers modulo 2^16, 2^32 and 2^64.

Each kernel is one pass over memory. ``left`` and ``right`` are the two summands a party holds; masks come from the
streams it shares with a neighbour. Bits arrive packed, 64 items to a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel


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
    "void(u8[::1],u8[::1],u2[::1],u2[::1],u2[::1],u2[::1])",
    "void(u8[::1],u8[::1],u4[::1],u4[::1],u4[::1],u4[::1])",
    "void(u8[::1],u8[::1],u8[::1],u8[::1],u8[::1],u8[::1])",
)
def deal_selected(bits_left: Any, bits_right: Any, left: Any, right: Any, mask: Any, out: Any) -> None:
    """``out = (bits_left ^ bits_right) * (left + right) - mask``: the dealer's product of what it knows."""
    for i in range(out.shape[0]):
        bit = ((bits_left[i >> 6] ^ bits_right[i >> 6]) >> np.uint64(i & 63)) & np.uint64(1)
        out[i] = bit * (left[i] + right[i]) - mask[i]


@kernel(
    "void(u2[::1],u2[::1],u8[::1],u2[::1],u2[::1],b1,u2[::1])",
    "void(u4[::1],u4[::1],u8[::1],u4[::1],u4[::1],b1,u4[::1])",
    "void(u8[::1],u8[::1],u8[::1],u8[::1],u8[::1],b1,u8[::1])",
)
def answer_selected(
    dealt_bit: Any, dealt_product: Any, known: Any, common: Any, own: Any, constant: Any, out: Any
) -> None:
    """Add one answering party's part of ``(dealt_bit XOR known) * x`` to ``out``.

    ``common`` is the summand of x both answering parties know, ``own`` the one this party shares with the dealer.
    """
    share = np.uint64(1) if constant else np.uint64(0)
    for i in range(out.shape[0]):
        bit = (known[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
        value = (dealt_product[i] + dealt_bit[i] * common[i]) * (np.uint64(1) - np.uint64(2) * bit)
        out[i] += value + bit * (own[i] + share * common[i])


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
