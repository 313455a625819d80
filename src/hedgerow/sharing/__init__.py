"""Replicated secret sharing: rings, shares, correlated randomness, contexts, input and reveal."""

from .context import Context
from .input import deal, public, public_bits, split, split_bits
from .refresh import refresh
from .reveal import reconstruct, reconstruct_bits, reveal, reveal_bits, reveal_to, unpack_bits
from .ring import RING16, RING32, RING64, RING128, Ring
from .share import ArithmeticShare, BinaryShare, ByteShare, words_for

__all__ = [
    "RING16",
    "RING32",
    "RING64",
    "RING128",
    "ArithmeticShare",
    "BinaryShare",
    "ByteShare",
    "Context",
    "Ring",
    "deal",
    "public",
    "public_bits",
    "reconstruct",
    "reconstruct_bits",
    "refresh",
    "reveal",
    "reveal_bits",
    "reveal_to",
    "split",
    "split_bits",
    "unpack_bits",
    "words_for",
]
