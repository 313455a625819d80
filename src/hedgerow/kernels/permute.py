"""Permutations of rows: drawing them, applying them with a mask in the same pass, inverting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .word128 import add128, subtract128, wide_multiply


@kernel("void(u8[::1],u4[::1])")
def draw_permutation(random: Any, out: Any) -> None:
    """Fisher–Yates from uniform 64-bit words. The bias of ``word * (i + 1) >> 64`` is below n / 2^64 a draw."""
    for i in range(out.shape[0]):
        out[i] = i
    for i in range(out.shape[0] - 1, 0, -1):
        _, j = wide_multiply(random[i], np.uint64(i + 1))
        swap = out[i]
        out[i] = out[j]
        out[j] = swap


@kernel("void(u4[::1],u4[::1])")
def invert_permutation(permutation: Any, out: Any) -> None:
    """``out[permutation[i]] = i``."""
    for i in range(out.shape[0]):
        out[permutation[i]] = i


@kernel("void(u4[::1],u4[::1],u4[::1],b1,u4[::1])", "void(u8[::1],u4[::1],u8[::1],b1,u8[::1])")
def gather_masked(x: Any, order: Any, mask: Any, negative: Any, out: Any) -> None:
    """``out[i] = x[order[i]] + mask[i]``, or minus it when ``negative``."""
    if negative:
        for i in range(out.shape[0]):
            out[i] = x[order[i]] - mask[i]
    else:
        for i in range(out.shape[0]):
            out[i] = x[order[i]] + mask[i]


@kernel("void(u1[::1],u4[::1],u1[::1],u1[::1])", "void(u8[::1],u4[::1],u8[::1],u8[::1])")
def gather_flipped(x: Any, order: Any, mask: Any, out: Any) -> None:
    """``out[i] = x[order[i]] ^ mask[i]``."""
    for i in range(out.shape[0]):
        out[i] = x[order[i]] ^ mask[i]


@kernel("void(u8[:,::1],u4[::1],u8[:,::1],b1,u8[:,::1])")
def gather_masked_words(x: Any, order: Any, mask: Any, negative: Any, out: Any) -> None:
    """:func:`gather_masked` modulo 2^128."""
    for i in range(out.shape[0]):
        j = order[i]
        if negative:
            out[i, 0], out[i, 1] = subtract128(x[j, 0], x[j, 1], mask[i, 0], mask[i, 1])
        else:
            out[i, 0], out[i, 1] = add128(x[j, 0], x[j, 1], mask[i, 0], mask[i, 1])
