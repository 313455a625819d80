"""An ordinary decision tree in the clear, as the twins train it and as opened models are decoded to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf with its label."""

    label: int


@dataclass(frozen=True, slots=True)
class Split:
    """A test ``2·X_attribute < threshold``; ``attribute`` counts from 0."""

    attribute: int
    threshold: int
    if_true: Node
    if_false: Node


Node = Leaf | Split


def predict(tree: Node, x: Any) -> npt.NDArray[np.int64]:
    """Labels of rows given as ``x[m, n]``."""
    values = np.asarray(x).astype(np.int64)
    labels = np.empty(values.shape[1], np.int64)

    def fill(node: Node, rows: npt.NDArray[Any]) -> None:
        if isinstance(node, Leaf):
            labels[rows] = node.label
            return
        passes = values[node.attribute, rows] < -(-node.threshold // 2)
        fill(node.if_true, rows[passes])
        fill(node.if_false, rows[~passes])

    fill(tree, np.arange(values.shape[1]))
    return labels


def count_splits(tree: Node) -> int:
    """Number of inner nodes."""
    if isinstance(tree, Leaf):
        return 0
    return 1 + count_splits(tree.if_true) + count_splits(tree.if_false)
