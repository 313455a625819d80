"""The four rings shares live in: integers modulo 2^16, 2^32, 2^64 and 2^128."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..kernels import word128

Words = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Ring:
    """Integers modulo ``2**bits``. Arrays are ``uint16[n]`` to ``uint64[n]`` or, two limbs per item,
    ``uint64[n, 2]``."""

    bits: int
    dtype: np.dtype[Any]
    """The NumPy type of one limb."""
    nbytes: int
    """Bytes of one item."""

    def shape(self, count: int) -> tuple[int, ...]:
        """The array shape of ``count`` items."""
        return (count, 2) if self.bits == 128 else (count,)

    def empty(self, count: int) -> Words:
        """An uninitialised array of ``count`` items."""
        return np.empty(self.shape(count), self.dtype)

    def zeros(self, count: int) -> Words:
        """An array of ``count`` zeros."""
        return np.zeros(self.shape(count), self.dtype)

    def encode(self, values: Any) -> Words:
        """A vector of Python or NumPy integers as items of this ring; a negative v stands for ``2**bits + v``."""
        if isinstance(values, np.ndarray) and values.dtype == self.dtype and values.ndim == 1 and self.bits != 128:
            return np.ascontiguousarray(values)
        array = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
        if array.ndim != 1:
            raise InputError(f"a vector of whole numbers is needed, not an array with {array.ndim} dimensions")
        if array.dtype.kind not in "iubO" or any(int(v) != v for v in array if array.dtype == object):
            raise InputError(f"whole numbers are needed, not {array.dtype}; scale fractions first")
        if array.size and not -(1 << (self.bits - 1)) <= int(array.min()) <= int(array.max()) < 1 << self.bits:
            raise InputError(f"a number does not fit {self!r}; use a wider ring")
        if self.bits == 128:
            flat = [int(v) % 2**128 for v in array]
            return np.array([[v % 2**64, v >> 64] for v in flat], np.uint64).reshape(-1, 2)
        if array.dtype == object:
            return np.array([int(v) % 2**self.bits for v in array], self.dtype)
        return np.ascontiguousarray(array.astype(self.dtype))

    def decode(self, words: Words) -> npt.NDArray[Any]:
        """Items as unsigned integers (Python objects for 128 bits)."""
        if self.bits != 128:
            return words
        return np.array([int(low) | int(high) << 64 for low, high in words], dtype=object)

    def decode_signed(self, words: Words) -> npt.NDArray[Any]:
        """Items as signed integers in two's complement."""
        if self.bits != 128:
            return words.view(f"i{self.nbytes}")
        return np.array([int(v) - 2**128 if int(v) >= 2**127 else int(v) for v in self.decode(words)], dtype=object)

    def add(self, a: Words, b: Words) -> Words:
        """Sum of two arrays; an array of one item is added to every item."""
        if self.bits != 128:
            return np.add(a, b, dtype=self.dtype)
        return self._words(word128.add_words, a, b)

    def subtract(self, a: Words, b: Words) -> Words:
        """Difference of two arrays."""
        if self.bits != 128:
            return np.subtract(a, b, dtype=self.dtype)
        return self._words(word128.subtract_words, a, b)

    def multiply(self, a: Words, b: Words) -> Words:
        """Item-wise product of two arrays."""
        if self.bits != 128:
            return np.multiply(a, b, dtype=self.dtype)
        return self._words(word128.multiply_words, a, b)

    def prefix_sum(self, a: Words) -> Words:
        """Running sums, along the last axis where items have one limb."""
        if self.bits != 128:
            return np.cumsum(a, axis=-1, dtype=self.dtype)
        out = self.empty(len(a))
        if len(a):
            word128.prefix_sum_words(np.ascontiguousarray(a), out)
        return out

    def uniform(self, words: Words) -> Words:
        """Uniform items from uniform words: every word is an item."""
        return words

    def _words(self, kernel: Any, a: Words, b: Words) -> Words:
        if len(a) != len(b) and 1 not in (len(a), len(b)):
            raise ValueError(f"vectors of {len(a)} and {len(b)} items do not go together")
        out = self.empty(0 if 0 in (len(a), len(b)) else max(len(a), len(b)))
        kernel(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
        return out

    def __repr__(self) -> str:
        return f"Ring(2^{self.bits})"


RING16 = Ring(16, np.dtype(np.uint16), 2)
RING32 = Ring(32, np.dtype(np.uint32), 4)
RING64 = Ring(64, np.dtype(np.uint64), 8)
RING128 = Ring(128, np.dtype(np.uint64), 16)
