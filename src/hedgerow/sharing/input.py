"""Getting values in: split by a data owner outside, dealt by a party, or public from the start."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ..errors import InputError
from .context import Context
from .ring import Ring, Words
from .share import ArithmeticShare, BinaryShare, words_for


def random_words(ring: Ring, count: int) -> Words:
    """Uniform items from the operating system's generator, for data owners."""
    shape = ring.shape(count)
    size = int(np.prod(shape)) * ring.dtype.itemsize
    return np.frombuffer(bytearray(secrets.token_bytes(size)), ring.dtype).reshape(shape)


def split(values: Any, ring: Ring) -> list[ArithmeticShare]:
    """What a data owner does: split integers into three shares, one for each party. Any one of them is uniform."""
    encoded = ring.encode(values)
    first, second = random_words(ring, len(encoded)), random_words(ring, len(encoded))
    summands = [first, second, ring.subtract(ring.subtract(encoded, first), second)]
    return [ArithmeticShare(summands[i], summands[(i + 1) % 3], ring) for i in range(3)]


def split_bits(values: Any) -> list[BinaryShare]:
    """Split one bit vector into three XOR shares, one for each party."""
    bits = np.asarray(values, dtype=np.uint8).reshape(-1)
    packed = np.zeros((1, words_for(bits.size)), np.uint64)
    packed.view(np.uint8)[0, : (bits.size + 7) // 8] = np.packbits(bits, bitorder="little")
    first = np.frombuffer(bytearray(secrets.token_bytes(packed.nbytes)), np.uint64).reshape(packed.shape)
    second = np.frombuffer(bytearray(secrets.token_bytes(packed.nbytes)), np.uint64).reshape(packed.shape)
    summands = [first, second, packed ^ first ^ second]
    return [BinaryShare(summands[i], summands[(i + 1) % 3], bits.size) for i in range(3)]


def public(ctx: Context, values: Any, ring: Ring) -> ArithmeticShare:
    """A public vector as a share, free: the summand between parties 2 and 0 is the value, the others are zero."""
    known = ring.encode(values)
    zero = ring.zeros(len(known))
    return ArithmeticShare(known if ctx.party == 0 else zero, known if ctx.party == 2 else zero, ring)


def public_bits(ctx: Context, packed: Words, count: int) -> BinaryShare:
    """Public packed bit rows as a share, free."""
    zero = np.zeros_like(packed)
    return BinaryShare(packed if ctx.party == 0 else zero, packed if ctx.party == 2 else zero, count)


def deal(ctx: Context, dealer: int, values: Any, ring: Ring, count: int) -> ArithmeticShare:
    """Share a vector that one party knows alone; the others pass ``None``.

    Cost: 1 round, ``count`` elements sent by the dealer.
    Reveals: nothing. The left neighbour receives the value minus a summand it does not know; the right neighbour's
    summand comes from its key with the dealer; the third summand is zero.
    """
    if ctx.party == dealer:
        encoded = ring.encode(values)
        if len(encoded) != count:
            raise InputError(f"{count} items were announced, {len(encoded)} are to be dealt")
        mask = ctx.with_right(ring.shape(count), ring.dtype)
        rest = ring.subtract(encoded, mask)
        ctx.exchange(to_left=rest)
        return ArithmeticShare(rest, mask, ring)
    if dealer == ctx.transport.left:
        mask = ctx.with_left(ring.shape(count), ring.dtype)
        ctx.exchange()
        return ArithmeticShare(mask, ring.zeros(count), ring)
    rest = ring.empty(count)
    ctx.exchange(from_right=rest)
    return ArithmeticShare(ring.zeros(count), rest, ring)
