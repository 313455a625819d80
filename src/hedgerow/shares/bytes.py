"""Shared bytes: up to eight bits of an item that move as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .numbers import gathered
from .ring import Words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bytes:
    """One party's part of a vector of bytes, XOR-shared item by item."""

    left: Words
    right: Words

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"Bytes({len(self)} items)"

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> Bytes:
        return Bytes(self.left[index], self.right[index])

    def __xor__(self, other: Bytes) -> Bytes:
        return Bytes(self.left ^ other.left, self.right ^ other.right)

    def gather(self, order: Words) -> Bytes:
        """For item i the item ``order[i]``; the order must be (part of) a checked permutation."""
        return Bytes(gathered(self.left, order), gathered(self.right, order))

    @staticmethod
    def total(parts: Sequence[Bytes]) -> Bytes:
        """The item-wise exclusive or of several vectors."""
        found = parts[0]
        for part in parts[1:]:
            found = found ^ part
        return found
