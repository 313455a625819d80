"""Numba kernels: arrays in, arrays out; no I/O, no keys, no knowledge of who the parties are.

The modules are loaded together, when the first kernel is called: code that only splits and joins shares needs none,
and Numba with all machine code takes most of a second.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import bits, chunk, field, logarithm, order, permute, product, ring, word128

__all__ = ["bits", "chunk", "field", "logarithm", "order", "permute", "product", "ring", "word128"]


class _Waiting:
    """Stands for a module until a kernel of it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, kernel: str) -> Any:
        load()
        found = getattr(importlib.import_module(f".{self._name}", __package__), kernel)
        # From now on the attribute is found without asking.
        setattr(self, kernel, found)
        return found


@cache
def load(hide_scipy: bool = False) -> None:
    """Load all kernels, or compile them.

    With ``hide_scipy`` Numba does not find SciPy, whose linear algebra it would load for kernels that have none: that
    takes a fifth of a second. For processes without other threads.
    """
    if hide_scipy:
        sys.modules.setdefault("scipy", None)  # type: ignore[arg-type]
    from .compile import compiling

    with compiling():
        for name in __all__:
            importlib.import_module(f".{name}", __package__)
    if sys.modules.get("scipy", sys) is None:
        del sys.modules["scipy"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _Waiting(name)
    raise AttributeError(f"module 'hedgerow.kernels' has no attribute '{name}'")
