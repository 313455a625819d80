"""Shamir's shares: party i holds the value at i + 1 of a line whose value at 0 is the secret.

Everything linear is local and done to one array. As in :mod:`.numbers`, values are immutable and their ``repr`` shows a
shape, never content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .field import FIELD61
from .ring import Words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Points:
    """One party's part of a vector over the field."""

    value: Words

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return f"Points({len(self)} items)"

    def map(self, change: Callable[..., Words], *others: Points) -> Points:
        """The same linear change that is made to the secrets."""
        return Points(change(self.value, *(other.value for other in others)))

    def __add__(self, other: Points) -> Points:
        return self.map(FIELD61.add, other)

    def __sub__(self, other: Points) -> Points:
        return self.map(FIELD61.subtract, other)

    def scale(self, factor: int) -> Points:
        """Product with a public number."""
        return self.map(lambda value: FIELD61.multiply(value, FIELD61.encode(factor)))

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> Points:
        return self.map(lambda value: value[index])

    def pieces(self, stride: int) -> list[Points]:
        """Pieces of ``stride`` items."""
        return [self[start : start + stride] for start in range(0, len(self), stride)]

    @staticmethod
    def concatenate(parts: Sequence[Points]) -> Points:
        """One vector out of several."""
        return Points(np.concatenate([part.value for part in parts]))
