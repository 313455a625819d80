"""A revealed tree as scikit-learn's own fitted tree."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..reference.node import Leaf, Node, Split
from .facts import ModelFacts


def to_sklearn(nodes: Sequence[Node], limits: Sequence[float], facts: ModelFacts) -> Any:
    """``nodes`` in depth-first order, true side first, with the limit of each test ``value <= limit``."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import Tree

    regression, entropy = facts.problem.regression, facts.problem.criterion != "gini"
    classes, attributes = len(facts.classes) or 1, len(facts.attribute_names)
    inner = Tree(attributes, np.array([classes], dtype=np.intp), 1)
    state = inner.__getstate__()
    table = np.zeros(len(nodes), dtype=state["nodes"].dtype)
    values = np.zeros((len(nodes), 1, classes))
    index = {id(node): k for k, node in enumerate(nodes)}
    depth = dict.fromkeys(range(len(nodes)), 0)
    largest = max(abs(_mean(node, facts)[0]) for node in nodes) if regression else 0.0
    for k, node in enumerate(nodes):
        row = table[k]
        if regression:
            values[k, 0], rows = _mean(node, facts)
            # What splitting does not change is left out of the squared error, and as much added that none is negative.
            row["impurity"] = largest**2 - values[k, 0, 0] ** 2 if node.counts is not None else 0.0
        else:
            counts = np.array(node.counts if node.counts is not None else _vote(node, classes), float)
            rows = float(counts.sum())
            values[k, 0] = counts / (rows or 1)
            row["impurity"] = _impurity(values[k, 0], entropy)
        row["n_node_samples"], row["weighted_n_node_samples"] = int(rows), rows
        row["missing_go_to_left"] = isinstance(node, Split)
        row["feature"], row["threshold"] = (-2, -2.0)
        row["left_child"] = row["right_child"] = -1
        if isinstance(node, Split):
            row["feature"], row["threshold"] = facts.problem.features[node.feature].attribute, limits[k]
            row["left_child"], row["right_child"] = (index[id(child)] for child in node.children)
            for child in node.children:
                depth[index[id(child)]] = depth[k] + 1
    deepest = max(depth.values())
    inner.__setstate__({"max_depth": deepest, "node_count": len(nodes), "nodes": table, "values": values})
    model = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(max_depth=max(1, facts.problem.height))
    if entropy:
        model.criterion = "entropy"
    model.tree_ = inner
    if not regression:
        model.classes_, model.n_classes_ = np.asarray(facts.classes), classes
    model.n_features_in_, model.n_outputs_, model.max_features_ = attributes, 1, attributes
    model.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)
    return model


def _impurity(shares: npt.NDArray[np.float64], entropy: bool) -> float:
    """Of a node with these shares of its classes."""
    if entropy:
        some = shares[shares > 0]
        return float(-(some * np.log2(some)).sum())
    return float(1 - (shares**2).sum())


def _vote(node: Node, classes: int) -> list[int]:
    """Leaves below a node by class, where rows were not opened."""
    if isinstance(node, Leaf):
        return [int(c == node.label) for c in range(classes)]
    true, false = (_vote(child, classes) for child in node.children)
    return [a + b for a, b in zip(true, false, strict=True)]


def _mean(node: Node, facts: ModelFacts) -> tuple[float, float]:
    """A node's estimate and rows; where sums were not opened, inner nodes take the mean of their children."""
    if isinstance(node, Leaf):
        return facts.estimate(node.label), float(node.counts[0]) if node.counts else 1.0
    (a, m), (b, n) = (_mean(child, facts) for child in node.children)
    return (a * m + b * n) / ((m + n) or 1), m + n
