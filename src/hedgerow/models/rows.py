"""Plain rows through a revealed tree: which leaf each reaches, and by which way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..reference.node import Leaf, Node
from ..tables.frame import named_columns

if TYPE_CHECKING:
    from .revealed import RevealedTree


def reached(tree: RevealedTree, x: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], list[Node]]:
    """Per row the number of its leaf, and which nodes it passes; nodes are numbered depth first, the true side first,
    as scikit-learn numbers them."""
    values = tree.facts.doubled(named_columns(x, tree.facts.schema))
    nodes = [node for node, _ in tree._walk()]
    numbers = {id(node): k for k, node in enumerate(nodes)}
    rows = len(values[0])
    leaves, passed = np.zeros(rows, np.int64), np.zeros((rows, len(nodes)), np.bool_)

    def fill(node: Node, here: npt.NDArray[Any]) -> None:
        passed[here, numbers[id(node)]] = True
        if isinstance(node, Leaf):
            leaves[here] = numbers[id(node)]
            return
        feature = tree.feature(node)
        mine = values[feature.attribute][here]
        passes = mine < node.threshold if feature.category is None else mine == feature.category
        fill(node.children[0], here[passes])
        fill(node.children[1], here[~passes])

    fill(tree.root, np.arange(rows))
    return leaves, passed, nodes
