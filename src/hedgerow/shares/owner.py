"""What people outside the parties do: owners split values into three shares, receivers put results together."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .bits import Bits, pack_row, unpack_bits
from .numbers import Numbers
from .ring import Ring, Words


def _random_words(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Words:
    """Uniform words from the operating system's generator."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(bytearray(secrets.token_bytes(size)), dtype).reshape(shape)


def split(values: Any, ring: Ring) -> list[Numbers]:
    """What a data owner does: split integers into three shares, one for each party. Any one of them is uniform."""
    encoded = ring.encode(values)
    first, second = (_random_words(ring.shape(len(encoded)), ring.dtype) for _ in range(2))
    summands = [first, second, ring.subtract(ring.subtract(encoded, first), second)]
    return [Numbers(summands[i], summands[(i + 1) % 3], ring) for i in range(3)]


def split_bits(values: Any) -> list[Bits]:
    """Split one bit vector into three XOR shares, one for each party."""
    bits = np.asarray(values, dtype=np.uint8).reshape(-1)
    packed = pack_row(bits)
    first, second = (_random_words(packed.shape, np.uint64) for _ in range(2))
    summands = [first, second, packed ^ first ^ second]
    return [Bits(summands[i], summands[(i + 1) % 3], bits.size) for i in range(3)]


def _check_consistent(shares: Sequence[Numbers] | Sequence[Bits]) -> None:
    for i in range(3):
        if not np.array_equal(shares[i].right, shares[(i + 1) % 3].left):
            raise ValueError("the three shares do not belong together; ask the parties for the result again")


def reconstruct(shares: Sequence[Numbers]) -> Words:
    """What an outside receiver does with the three parties' shares of a result. Raises if they contradict."""
    _check_consistent(shares)
    ring = shares[0].ring
    return ring.add(ring.add(shares[0].left, shares[1].left), shares[2].left)


def reconstruct_bits(shares: Sequence[Bits]) -> npt.NDArray[Any]:
    """The bit rows behind three parties' shares of bits."""
    _check_consistent(shares)
    return unpack_bits(shares[0].left ^ shares[1].left ^ shares[2].left, shares[0].count)


def seen_by_party(share: Numbers) -> Words:
    """One of the two summands that a party receives: uniform words, for showing people what a share looks like."""
    return share.left
