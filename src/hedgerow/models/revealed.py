"""A tree its owners have opened: as text, JSON, Graphviz, a picture, or scikit-learn's own tree."""

from __future__ import annotations

import io
import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..extras import needs_extra
from ..reference.logarithm import k_log_k
from ..reference.node import Leaf, Node, Split
from ..tables import Column
from ..tables.fixed import at_most, is_missing_test, threshold_text, threshold_units
from ..trees.opened import reconstruct_root
from ..trees.problem import Feature
from ..trees.shared_tree import SharedTree
from .facts import ModelFacts
from .rows import reached


def reveal_tree(
    trees: Sequence[SharedTree], facts: ModelFacts, counts: bool = False, withheld: bool = False
) -> RevealedTree:
    """Put the three parties' shares together. Leaf counts are opened only where asked for.

    ``withheld`` says that the parties blanked the counts of small leaves: none are known of those, nor above them.
    """
    if counts and not trees[0].counts:
        raise InputError("this model has no class counts: train it with algorithm 'fast'")
    return RevealedTree(reconstruct_root(trees, counts, withheld), facts)


@dataclass(frozen=True, slots=True)
class RevealedTree:
    """An ordinary decision tree, in the units and names of its table."""

    root: Node
    facts: ModelFacts

    def __repr__(self) -> str:
        return f"RevealedTree({sum(1 for _ in self._walk())} nodes, depth {self.depth})"

    def _walk(self) -> Iterator[tuple[Node, int]]:
        """All nodes with their depth, parents before children, the true side first."""
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            if node.children:
                stack += [(node.children[1], depth + 1), (node.children[0], depth + 1)]

    @property
    def depth(self) -> int:
        """The longest path from the root to a leaf."""
        return max(depth for _, depth in self._walk())

    def feature(self, node: Split) -> Feature:
        """The attribute, and maybe the category, that a node tests."""
        return self.facts.problem.features[node.feature]

    def threshold(self, node: Split) -> float:
        """A number's threshold in the attribute's own units; the true side has smaller values."""
        return threshold_units(self._column(node), node.threshold)

    def _column(self, node: Split) -> Column:
        return self.facts.schema.attributes[self.feature(node).attribute]

    def _asks_missing(self, node: Split) -> bool:
        """Whether a node asks if the value is missing."""
        column, category = self._column(node), self.feature(node).category
        if category is not None:
            return column.category_text(category) is None
        return is_missing_test(column, node.threshold)

    def _answers(self, node: Split) -> tuple[str, str]:
        """A node's test in words, as it is true and as it is false."""
        column = self._column(node)
        if self._asks_missing(node):
            return f"{column.name} is missing", f"{column.name} is not missing"
        number = self.feature(node).category
        if number is not None:
            category = column.category_text(number)
            return f"{column.name} = {category}", f"{column.name} != {category}"
        limit = threshold_text(column, node.threshold)
        gaps = " or missing" if column.missing else ""
        return f"{column.name} <  {limit}{gaps}", f"{column.name} >= {limit}"

    def _outcome(self, node: Leaf) -> str:
        """A leaf in words."""
        if self.facts.problem.regression:
            value = self.facts.estimate(node.label)
            return "withheld" if math.isnan(value) else f"{value:.6g}"
        return str(self.facts.classes[node.label])

    def _counted(self, counts: tuple[int, ...]) -> list[Any]:
        """Opened counts for people: rows per class, or rows and the sum of targets in their own units."""
        if not self.facts.problem.regression:
            return list(counts)
        column, (rows, total) = self.facts.target_column, counts
        return [rows, float(Fraction(total - rows * column.offset) / Fraction(10) ** column.decimals)]

    def export_text(self) -> str:
        """The tree as indented lines, in the manner of scikit-learn's ``export_text``."""
        lines: list[str] = []

        def show(node: Node, indent: str) -> None:
            counts = "" if node.counts is None else f"   {self._counted(node.counts)}"
            if isinstance(node, Leaf):
                kind = "value" if self.facts.problem.regression else "class"
                lines.append(f"{indent}|--- {kind}: {self._outcome(node)}{counts}")
                return
            for answer, child in zip(self._answers(node), node.children, strict=True):
                lines.append(f"{indent}|--- {answer}")
                show(child, indent + "|   ")

        show(self.root, "")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries of plain values."""

        regression = self.facts.problem.regression

        def plain(node: Node) -> dict[str, Any]:
            counts: dict[str, Any] = {}
            if node.counts is not None and regression:
                counts = dict(zip(("samples", "sum"), self._counted(node.counts), strict=True))
            elif node.counts is not None:
                counts = {"samples": sum(node.counts), "counts": list(node.counts)}
            if isinstance(node, Leaf):
                if regression:
                    value = self.facts.estimate(node.label)
                    return {"value": None if math.isnan(value) else value, **counts}
                return {"class": self.facts.classes[node.label], **counts}
            column = self._column(node)
            test: dict[str, Any] = {"attribute": column.name}
            if self._asks_missing(node):
                test["missing"] = True
            elif (category := self.feature(node).category) is not None:
                test["category"] = column.category_text(category)
            else:
                dated = column.kind == "date"
                test["below"] = threshold_text(column, node.threshold) if dated else self.threshold(node)
                if column.missing:
                    test["or_missing"] = True
            true, false = (plain(child) for child in node.children)
            return {**test, **counts, "true": true, "false": false}

        return {"classes": list(self.facts.classes), "target": self.facts.target, "tree": plain(self.root)}

    def to_json(self) -> str:
        """The tree as JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def to_dot(self) -> str:
        """The tree for Graphviz."""
        lines = ["digraph tree {", '  node [shape=box, style="rounded,filled", fillcolor="#f4f7ef", fontname="sans"];']
        numbers = {id(node): k for k, (node, _) in enumerate(self._walk())}
        for node, _ in self._walk():
            lines.append(f"  n{numbers[id(node)]} [label={json.dumps(self._caption(node), ensure_ascii=False)}];")
            for child, answer in zip(node.children or (), ("yes", "no"), strict=False):
                lines.append(f'  n{numbers[id(node)]} -> n{numbers[id(child)]} [label="{answer}"];')
        return "\n".join([*lines, "}"]) + "\n"

    def _caption(self, node: Node) -> str:
        counts = ""
        if node.counts is not None:
            mass = node.counts[0] if self.facts.problem.regression else sum(node.counts)
            counts = f"\nweight {mass}" if self.facts.problem.weighted else f"\n{mass} row{'s' * (mass != 1)}"
            if not self.facts.problem.regression:
                parts = textwrap.wrap(" / ".join(map(str, node.counts)), 30, break_long_words=False)
                counts += ":" + ("\n" if len(parts) > 1 else " ") + "\n".join(parts)
        if isinstance(node, Leaf):
            return self._outcome(node) + counts
        return self._answers(node)[0].replace(" <  ", " < ") + counts

    def plot(self, path: Any = None, ax: Any = None, format: str | None = None) -> Any:
        """Draw the tree with Matplotlib, into ``ax`` or a new figure, and with ``path`` to a file; returns the axes.

        The file is written as ``format`` says (png, svg or pdf), or as its name ends.
        """
        from .picture import draw_tree

        with needs_extra():
            return draw_tree(self, self._caption, path, ax, format)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The normalised total decrease of impurity (Gini, entropy or squared error) by each attribute; needs opened
        counts."""
        if self.root.counts is None:
            raise InputError("importances need the counts of all leaves: call reveal(counts=True)")

        def impurity(node: Node) -> Fraction:
            # Up to what splitting does not change: the sum of squares over the weight, with the sign turned.
            counts = node.counts or (0,)
            mass = counts[0] if self.facts.problem.regression else sum(counts)
            sums = counts[1:] if self.facts.problem.regression else counts
            if self.facts.problem.criterion != "gini":
                return Fraction(k_log_k(mass) - sum(map(k_log_k, sums)))
            return -Fraction(sum(value * value for value in sums), mass or 1)

        found = np.zeros(len(self.facts.attribute_names))
        for node, _ in self._walk():
            if isinstance(node, Split):
                found[self.feature(node).attribute] += float(
                    impurity(node) - sum(impurity(child) for child in node.children)
                )
        return found / found.sum() if found.sum() > 0 else found

    def predict(self, x: Any) -> npt.NDArray[Any]:
        """Classes or estimates of plain rows ``x[row, attribute]``, in the table's own units."""
        leaves, _, nodes = reached(self, x)
        labels = np.array([node.label if isinstance(node, Leaf) else 0 for node in nodes], np.int64)
        return self.facts.labels(labels[leaves])

    def predict_proba(self, x: Any) -> npt.NDArray[np.float64]:
        """Shares of each class in the weight of the training rows of a row's leaf; needs opened counts."""
        self.facts.need_classes()
        leaves, _, nodes = reached(self, x)
        if all(node.counts is None for node in nodes):
            raise InputError("probabilities need the leaves' counts: call reveal(counts=True)")
        unknown = (np.nan,) * len(self.facts.classes)
        counts = np.array([unknown if node.counts is None else node.counts for node in nodes], float)
        shares: npt.NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return shares[leaves]

    def predict_log_proba(self, x: Any) -> npt.NDArray[np.float64]:
        """Logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(x))

    def apply(self, x: Any) -> npt.NDArray[np.int64]:
        """The number of every row's leaf; nodes are numbered depth first, the true side first, as in scikit-learn."""
        return reached(self, x)[0]

    def decision_path(self, x: Any) -> Any:
        """Which nodes every row passes, as a sparse matrix ``[row, node]``."""
        from scipy.sparse import csr_matrix

        return csr_matrix(reached(self, x)[1].astype(np.int64))

    def get_depth(self) -> int:
        """The longest path from the root to a leaf."""
        return self.depth

    def get_n_leaves(self) -> int:
        """How many leaves there are."""
        return sum(isinstance(node, Leaf) for node, _ in self._walk())

    def _repr_html_(self) -> str:
        """The picture, for notebooks."""
        buffer = io.StringIO()
        self.plot(buffer, format="svg")
        return buffer.getvalue()[buffer.getvalue().index("<svg") :]

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn tree (classifier or regressor) with the same tests, for scikit-learn's tools.

        scikit-learn sees attributes as 32-bit floating point and has tests ``value <= limit``; missing values take the
        same way there. It has no tests of categories, so a tree with such is refused.
        """
        from .convert import to_sklearn

        nodes = [node for node, _ in self._walk()]
        if any(isinstance(node, Split) and self.feature(node).category is not None for node in nodes):
            raise InputError("the tree tests categories, which scikit-learn's trees cannot; use to_json() or to_dot()")
        limits = [self._limit(node) if isinstance(node, Split) else -2.0 for node in nodes]
        return to_sklearn(nodes, limits, self.facts)

    def _limit(self, node: Split) -> float:
        """A number's test as ``value <= limit``; only a missing value passes the one for missing values."""
        return -np.inf if self._asks_missing(node) else at_most(self._column(node), node.threshold)

    def to_onnx(self) -> bytes:
        """The tree as an ONNX model, through ``skl2onnx`` (``pip install hedgerow[onnx]``)."""
        with needs_extra():
            from skl2onnx import to_onnx
        example = np.zeros((1, len(self.facts.attribute_names)), np.float32)
        converted: bytes = to_onnx(self.to_sklearn(), example, options={"zipmap": False}).SerializeToString()
        return converted
