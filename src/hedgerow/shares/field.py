"""The prime field of HIKC23's own instance: integers modulo the Mersenne prime 2^61 - 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels import field as kernels
from .ring import Ring, Words

PRIME = (1 << 61) - 1


@dataclass(frozen=True, slots=True)
class PrimeField(Ring):
    """A ring whose size is not a power of two: items are below the prime. Linear moves, shares of zero and shuffles
    work in it as in the others; products and what looks at bits do not (see :mod:`hedgerow.schemes.shamir`)."""

    def encode(self, values: Any) -> Words:
        """Whole numbers modulo the prime; a negative v stands for the prime less -v."""
        array = np.asarray(values)
        if array.dtype == np.uint64:
            return np.ascontiguousarray(kernels.reduced(array))
        signed = array.astype(np.int64) % PRIME
        return np.ascontiguousarray(signed.astype(np.uint64))

    def decode(self, words: Words) -> npt.NDArray[Any]:
        """Items as they are."""
        return words

    def decode_signed(self, words: Words) -> npt.NDArray[Any]:
        """Items from minus to plus half the prime."""
        signed = words.astype(np.int64)
        return np.where(signed > PRIME // 2, signed - PRIME, signed)

    def add(self, a: Words, b: Words) -> Words:
        """Sums; arrays are broadcast."""
        found: Words = kernels.add(a, b)
        return found

    def subtract(self, a: Words, b: Words) -> Words:
        """Differences; arrays are broadcast."""
        found: Words = kernels.subtract(a, b)
        return found

    def multiply(self, a: Words, b: Words) -> Words:
        """Products; arrays are broadcast."""
        found: Words = kernels.multiply(a, b)
        return found

    def prefix_sum(self, a: Words) -> Words:
        """Running sums along the last axis."""
        out = np.empty_like(a, order="C")
        if a.size:
            kernels.running_sums(np.ascontiguousarray(a).reshape(-1, a.shape[-1]), out.reshape(-1, a.shape[-1]))
        return out

    def uniform(self, words: Words) -> Words:
        """Uniform items from uniform words. A word in 2^61 has none; then the run ends, whatever the data."""
        found: Words = kernels.uniform(words)
        if (found == PRIME).any():
            raise RuntimeError("a mask was drawn that the field does not have, which has a chance of 2^-61: run again")
        return found

    def __repr__(self) -> str:
        return "Field(2^61 - 1)"


FIELD61 = PrimeField(61, np.dtype(np.uint64), 8)
