"""Shares as arrays and bytes, for a party's own files and for results on their way to those who may open them."""

from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import InputError
from .numbers import Numbers
from .ring import RING16, RING32, RING64, RING128, Words


def to_arrays(share: Numbers, left: str, right: str) -> dict[str, Words]:
    """A share's two arrays under names of a file."""
    return {left: share.left, right: share.right}


def from_arrays(arrays: Mapping[str, Words], left: str, right: str) -> Numbers:
    """The inverse of :func:`to_arrays`; refuses what is not a share."""
    a, b = arrays.get(left), arrays.get(right)
    if a is None or b is None:
        raise InputError(f"the file lacks '{left}' or '{right}'")
    if a.ndim == 2 and a.shape[1] == 2:
        ring = RING128 if a.dtype == RING128.dtype else None
    else:
        ring = {ring.dtype: ring for ring in (RING16, RING32, RING64)}.get(a.dtype) if a.ndim == 1 else None
    if ring is None or b.dtype != a.dtype or b.shape != a.shape:
        raise InputError(f"'{left}' and '{right}' are not the two halves of a share")
    return Numbers(a, b, ring)


def to_bytes(share: Numbers) -> Iterator[memoryview]:
    """All left summands, then all right ones."""
    for side in (share.left, share.right):
        yield np.ascontiguousarray(side).data.cast("B")


def from_bytes(content: bytes, rows: int) -> Numbers:
    """The inverse of :func:`to_bytes` for items of 2^64."""
    both = np.frombuffer(content, np.uint64, 2 * rows)
    return Numbers(both[:rows].copy(), both[rows:].copy(), RING64)
