"""Arithmetic modulo the Mersenne prime 2^61 - 1: items are ``uint64`` below the prime."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import elementwise, kernel
from .word128 import wide_multiply

PRIME = np.uint64((1 << 61) - 1)


@njit(inline="always")
def reduce_once(x: Any) -> Any:
    """An item from a number below twice the prime."""
    return x - PRIME if x >= PRIME else x


@njit(inline="always")
def multiply_items(a: Any, b: Any) -> Any:
    """The product of two items: 2^61 is 1, so the high bits are added to the low ones."""
    low, high = wide_multiply(a, b)
    return reduce_once((low & PRIME) + (low >> np.uint64(61) | high << np.uint64(3)))


@elementwise("u8(u8,u8)")
def add(a: Any, b: Any) -> Any:
    """Sums."""
    return reduce_once(a + b)


@elementwise("u8(u8,u8)")
def subtract(a: Any, b: Any) -> Any:
    """Differences."""
    return reduce_once(a + (PRIME - b))


@elementwise("u8(u8,u8)")
def multiply(a: Any, b: Any) -> Any:
    """Products."""
    return multiply_items(a, b)


@elementwise("u8(u8)")
def reduced(word: Any) -> Any:
    """A word modulo the prime."""
    return reduce_once((word & PRIME) + (word >> np.uint64(61)))


@elementwise("u8(u8)")
def uniform(word: Any) -> Any:
    """A uniform word's low 61 bits: a uniform item, unless it is the prime itself, which has a chance of 2^-61."""
    return word & PRIME


@kernel("void(u8[:,::1],u8[:,::1],u8[::1])")
def inner_product(x: Any, y: Any, out: Any) -> None:
    """Item-wise sums over the rows of products."""
    for i in range(out.shape[0]):
        total = np.uint64(0)
        for t in range(x.shape[0]):
            total = reduce_once(total + multiply_items(x[t, i], y[t, i]))
        out[i] = total


@kernel("void(u8[:,::1],u8[:,::1])")
def running_sums(x: Any, out: Any) -> None:
    """Running sums along every row."""
    for row in range(x.shape[0]):
        total = np.uint64(0)
        for i in range(x.shape[1]):
            total = reduce_once(total + x[row, i])
            out[row, i] = total
