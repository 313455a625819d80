"""Permutations of rows: drawing them, applying them with a mask in the same pass, inverting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .word128 import add128, subtract128, wide_multiply


@kernel("b1(u8[::1],u4[::1])")
def draw_permutation(random: Any, out: Any) -> bool:
    """Fisher–Yates from uniform 64-bit words, without bias: a word that would cause one is replaced by a spare.

    ``random`` holds one word per item and a few spares; False if those ran out, which never happens (2^-40 per spare).
    """
    spare = out.shape[0]
    for i in range(out.shape[0]):
        out[i] = i
    for i in range(out.shape[0] - 1, 0, -1):
        bound = np.uint64(i + 1)
        low, j = wide_multiply(random[i], bound)
        if low < bound:
            unfair = (np.uint64(0) - bound) % bound
            while low < unfair:
                if spare == random.shape[0]:
                    return False
                low, j = wide_multiply(random[spare], bound)
                spare += 1
        swap = out[i]
        out[i] = out[j]
        out[j] = swap
    return True


@kernel("b1(u4[::1],u4[::1])")
def invert_permutation(permutation: Any, out: Any) -> bool:
    """``out[permutation[i]] = i``; False, with ``out`` unusable, if that is not a permutation.

    Permutations come opened from peers, so nothing is written outside ``out`` whatever they hold.
    """
    size = np.uint32(out.shape[0])
    for i in range(out.shape[0]):
        out[i] = size
    for i in range(out.shape[0]):
        if permutation[i] >= size or out[permutation[i]] != size:
            return False
        out[permutation[i]] = i
    return True


@kernel(
    "void(u2[::1],u4[::1],u2[::1],b1,u2[::1])",
    "void(u4[::1],u4[::1],u4[::1],b1,u4[::1])",
    "void(u8[::1],u4[::1],u8[::1],b1,u8[::1])",
)
def gather_masked(x: Any, order: Any, mask: Any, negative: Any, out: Any) -> None:
    """``out[i] = x[order[i]] + mask[i]``, or minus it when ``negative``."""
    if negative:
        for i in range(out.shape[0]):
            out[i] = x[order[i]] - mask[i]
    else:
        for i in range(out.shape[0]):
            out[i] = x[order[i]] + mask[i]


@kernel(
    "void(u1[::1],u4[::1],u1[::1])",
    "void(u2[::1],u4[::1],u2[::1])",
    "void(u4[::1],u4[::1],u4[::1])",
    "void(u8[::1],u4[::1],u8[::1])",
)
def gather(x: Any, order: Any, out: Any) -> None:
    """``out[i] = x[order[i]]``; the order must be a checked permutation."""
    for i in range(out.shape[0]):
        out[i] = x[order[i]]


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
