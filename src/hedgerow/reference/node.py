"""The one form of a tree in the clear: what the twins train, what opened models are decoded to and shown as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = tuple[int, ...]
"""Training rows per class (their weights, where rows had weights), or in regression the number of rows (their weight)
and the sum of their targets."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf with a class number or a mean; ``counts`` are known where they were opened, and two leaves are equal
    whatever is known of them."""

    label: int
    counts: Counts | None = field(default=None, compare=False)

    @property
    def children(self) -> None:
        """A leaf has none."""


@dataclass(frozen=True, slots=True)
class Split:
    """A test ``2·value < threshold`` of a feature, counted from 0, and the nodes of rows that pass it and do not."""

    feature: int
    threshold: int
    if_true: Node
    if_false: Node
    counts: Counts | None = field(default=None, compare=False)

    @property
    def children(self) -> tuple[Node, Node]:
        """The true and the false child."""
        return self.if_true, self.if_false


Node = Leaf | Split


def predict(tree: Node, x: Any) -> npt.NDArray[np.int64]:
    """Labels of rows given as ``x[m, n]``."""
    values = np.asarray(x).astype(np.int64)
    labels = np.empty(values.shape[1], np.int64)

    def fill(node: Node, rows: npt.NDArray[Any]) -> None:
        if isinstance(node, Leaf):
            labels[rows] = node.label
            return
        passes = values[node.feature, rows] < -(-node.threshold // 2)
        fill(node.if_true, rows[passes])
        fill(node.if_false, rows[~passes])

    fill(tree, np.arange(values.shape[1]))
    return labels


def count_splits(tree: Node) -> int:
    """Number of inner nodes."""
    if isinstance(tree, Leaf):
        return 0
    return 1 + count_splits(tree.if_true) + count_splits(tree.if_false)
