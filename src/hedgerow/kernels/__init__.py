"""Numba kernels: arrays in, arrays out; no I/O, no keys, no knowledge of who the parties are."""

from .compile import compiling

with compiling():
    from . import bits, chunk, order, permute, product, ring, word128

__all__ = ["bits", "chunk", "order", "permute", "product", "ring", "word128"]
