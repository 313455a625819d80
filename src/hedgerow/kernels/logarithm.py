"""The table of f(k) = k·log2 k in whole numbers; :mod:`hedgerow.reference.logarithm` says what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .word128 import wide_multiply


@kernel("void(u8[::1])")
def fill_k_log_k(out: Any) -> None:
    """``out[k] = ⌊k·log2 k·2^32⌋``: 56 places of the logarithm by squaring, then the product."""
    out[0] = 0
    for k in range(1, out.shape[0]):
        exponent = 0
        while np.uint64(k) >> np.uint64(exponent + 1):
            exponent += 1
        mantissa, found = np.uint64(k) << np.uint64(62 - exponent), np.uint64(exponent)
        for _ in range(56):
            low, high = wide_multiply(mantissa, mantissa)
            mantissa = (high << np.uint64(2)) | (low >> np.uint64(62))
            digit = mantissa >> np.uint64(63)
            mantissa >>= digit
            found = (found << np.uint64(1)) | digit
        low, high = wide_multiply(np.uint64(k), found)
        out[k] = (high << np.uint64(40)) | (low >> np.uint64(24))
