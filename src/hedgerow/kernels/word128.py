"""Arithmetic on two-limb words: the ring of integers modulo 2^128 stored as ``uint64[n, 2]`` (low limb, high limb)."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import kernel


@intrinsic
def wide_multiply(typing_context: Any, a: Any, b: Any) -> Any:
    """The full 128-bit product of two 64-bit words as ``(low, high)``, by LLVM's own i128."""
    pair = types.UniTuple(types.uint64, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], double), builder.zext(arguments[1], double))
        low = builder.trunc(product, ir.IntType(64))
        high = builder.trunc(builder.lshr(product, ir.Constant(double, 64)), ir.IntType(64))
        return cgutils.pack_array(builder, [low, high])

    return pair(types.uint64, types.uint64), generate


@njit(inline="always")
def multiply128(a_low: Any, a_high: Any, b_low: Any, b_high: Any) -> Any:
    """Product modulo 2^128 of two two-limb words."""
    low, high = wide_multiply(a_low, b_low)
    return low, high + a_low * b_high + a_high * b_low


@njit(inline="always")
def add128(a_low: Any, a_high: Any, b_low: Any, b_high: Any) -> Any:
    """Sum modulo 2^128."""
    low = a_low + b_low
    return low, a_high + b_high + np.uint64(low < a_low)


@njit(inline="always")
def subtract128(a_low: Any, a_high: Any, b_low: Any, b_high: Any) -> Any:
    """Difference modulo 2^128."""
    return a_low - b_low, a_high - b_high - np.uint64(a_low < b_low)


@kernel("void(u8[:,::1],u8[:,::1],u8[:,::1])")
def add_words(a: Any, b: Any, out: Any) -> None:
    """``out = a + b`` modulo 2^128; a single row is used for every item."""
    for i in range(out.shape[0]):
        j = i if a.shape[0] > 1 else 0
        k = i if b.shape[0] > 1 else 0
        out[i, 0], out[i, 1] = add128(a[j, 0], a[j, 1], b[k, 0], b[k, 1])


@kernel("void(u8[:,::1],u8[:,::1],u8[:,::1])")
def subtract_words(a: Any, b: Any, out: Any) -> None:
    """``out = a - b`` modulo 2^128; a single row is used for every item."""
    for i in range(out.shape[0]):
        j = i if a.shape[0] > 1 else 0
        k = i if b.shape[0] > 1 else 0
        out[i, 0], out[i, 1] = subtract128(a[j, 0], a[j, 1], b[k, 0], b[k, 1])


@kernel("void(u8[:,::1],u8[:,::1],u8[:,::1])")
def multiply_words(a: Any, b: Any, out: Any) -> None:
    """``out = a * b`` modulo 2^128; a single row is used for every item."""
    for i in range(out.shape[0]):
        j = i if a.shape[0] > 1 else 0
        k = i if b.shape[0] > 1 else 0
        out[i, 0], out[i, 1] = multiply128(a[j, 0], a[j, 1], b[k, 0], b[k, 1])


@kernel("void(u8[:,::1],u8[:,::1],u8[:,::1],u8[:,::1],u8[:,::1],u8[:,::1],u8[:,::1],b1)")
def product_words(xl: Any, xr: Any, yl: Any, yr: Any, mask_left: Any, mask_right: Any, out: Any, first: Any) -> None:
    """One summand of a replicated inner product: ``out (+)= xl*yl + xl*yr + xr*yl``, masked when ``first``."""
    for i in range(out.shape[0]):
        s_low, s_high = add128(yl[i, 0], yl[i, 1], yr[i, 0], yr[i, 1])
        a_low, a_high = multiply128(xl[i, 0], xl[i, 1], s_low, s_high)
        b_low, b_high = multiply128(xr[i, 0], xr[i, 1], yl[i, 0], yl[i, 1])
        z_low, z_high = add128(a_low, a_high, b_low, b_high)
        if first:
            m_low, m_high = subtract128(mask_left[i, 0], mask_left[i, 1], mask_right[i, 0], mask_right[i, 1])
        else:
            m_low, m_high = out[i, 0], out[i, 1]
        out[i, 0], out[i, 1] = add128(z_low, z_high, m_low, m_high)


@kernel("void(u8[:,::1],u8[:,::1])")
def prefix_sum_words(x: Any, out: Any) -> None:
    """Running sums modulo 2^128."""
    low = high = np.uint64(0)
    for i in range(x.shape[0]):
        low, high = add128(low, high, x[i, 0], x[i, 1])
        out[i, 0], out[i, 1] = low, high


@kernel("void(u8[:,::1],u8[:,::1],u8[:,:,:,::1],u8[:,:,:,::1],u8[:,:,:,::1],u8[:,:,:,::1])")
def deal_table_words(bits_left: Any, bits_right: Any, left: Any, right: Any, mask: Any, out: Any) -> None:
    """The dealer's products of what it knows; see the kernel of one word."""
    for t in range(out.shape[0]):
        for i in range(out.shape[2]):
            bit = ((bits_left[t, i >> 6] ^ bits_right[t, i >> 6]) >> np.uint64(i & 63)) & np.uint64(1)
            out[t, 0, i, 0], out[t, 0, i, 1] = subtract128(bit, np.uint64(0), mask[t, 0, i, 0], mask[t, 0, i, 1])
            for c in range(left.shape[1]):
                low, high = add128(left[t, c, i, 0], left[t, c, i, 1], right[t, c, i, 0], right[t, c, i, 1])
                low, high = subtract128(bit * low, bit * high, mask[t, 1 + c, i, 0], mask[t, 1 + c, i, 1])
                out[t, 1 + c, i, 0], out[t, 1 + c, i, 1] = low, high


@kernel("void(u8[:,:,:,::1],u8[:,::1],u8[:,:,:,::1],u8[:,:,:,::1],b1,u8[:,:,::1],u8[:,:,::1])")
def answer_table_words(dealt: Any, known: Any, common: Any, own: Any, constant: Any, mask: Any, out: Any) -> None:
    """One answering party's part of the selected sums; see the kernel of one word."""
    share = np.uint64(1) if constant else np.uint64(0)
    zero = np.uint64(0)
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            sum_low, sum_high = subtract128(zero, zero, mask[c, i, 0], mask[c, i, 1])
            for t in range(dealt.shape[0]):
                common_low, common_high = common[t, c, i, 0], common[t, c, i, 1]
                low, high = multiply128(dealt[t, 0, i, 0], dealt[t, 0, i, 1], common_low, common_high)
                low, high = add128(low, high, dealt[t, 1 + c, i, 0], dealt[t, 1 + c, i, 1])
                bit = (known[t, i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
                # The negative is added twice where the bit is set, so that nothing branches on it.
                twice_low, twice_high = add128(bit * low, bit * high, bit * low, bit * high)
                low, high = subtract128(low, high, twice_low, twice_high)
                low, high = add128(low, high, bit * own[t, c, i, 0], bit * own[t, c, i, 1])
                low, high = add128(low, high, bit * share * common_low, bit * share * common_high)
                sum_low, sum_high = add128(sum_low, sum_high, low, high)
            out[c, i, 0], out[c, i, 1] = sum_low, sum_high
