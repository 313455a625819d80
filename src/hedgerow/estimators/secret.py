"""From a plain table to a secret-shared model and back to opened predictions, with local parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..models import ModelFacts, PartyModel, RevealedTree, load_model, reveal_tree, save_model
from ..runtime import PartyReport, Progress, Ticked, local_parties
from ..sharing import RING64
from ..tables import Column, Schema, class_key, class_numbers, encode, propose_column
from ..trees.model import SharedTree
from ..trees.shape import MAX_VALUE_BITS, TreeShape
from ..trees.train import ALGORITHMS

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, repr=False)
class Prepared:
    """A table ready to be shared: fixed-point attributes ``x[attribute, row]``, class numbers ``y``, what is public of
    it, and per rounded attribute the largest error."""

    x: npt.NDArray[np.uint64]
    y: npt.NDArray[np.uint64]
    facts: ModelFacts
    rounding: dict[str, float]


def most_bits(rows: int) -> int:
    """What is left for a value beside its row number."""
    return min(MAX_VALUE_BITS, RING64.bits - 1 - max(1, (rows - 1).bit_length()))


def prepare(
    names: Sequence[str],
    columns: Sequence[Values],
    target: str,
    labels: Values,
    height: int,
    schema: Schema | None = None,
    algorithm: str = "fast",
) -> Prepared:
    """Check a table and turn it into whole numbers, by a schema or by the fewest decimals that keep it exactly.

    Raises :class:`InputError` with what to do; nothing was shared or sent by then.
    """
    if isinstance(height, bool) or not isinstance(height, int | np.integer):
        raise InputError(f"max_depth must be a whole number, not {height!r}")
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{algorithm}'; choose one of {', '.join(ALGORITHMS)}")
    rows = len(labels)
    classes = _classes(target, labels, schema)
    chosen: list[Column] = []
    encoded, rounding = [], {}
    for name, values in zip(names, columns, strict=True):
        column = _declared(schema, name) if schema else propose_column(name, values, most_bits(rows)).column
        numbers, error = encode(column, values)
        if error:
            rounding[name] = error
        chosen.append(column)
        encoded.append(numbers)
    if not encoded:
        raise InputError("the table has no input attribute: at least one column besides the label is needed")
    label = Column(target, "label", classes=tuple(str(c) for c in classes))
    full = Schema((*chosen, label))
    shape = TreeShape(rows, len(encoded), int(height), full.value_bits)
    y = class_numbers(target, labels, classes)
    facts = ModelFacts(shape, full, target, tuple(classes), algorithm)
    return Prepared(np.stack(encoded), y, facts, rounding)


def _declared(schema: Schema, name: str) -> Column:
    for column in schema.attributes:
        if column.name == name:
            return column
    raise InputError(f"column '{name}' is not in the schema; it declares {', '.join(c.name for c in schema.columns)}")


def _classes(target: str, labels: Values, schema: Schema | None) -> list[Any]:
    """The two class values, sorted; where a schema lists them, those it lists."""
    if labels.dtype == object and any(value is None for value in labels):
        raise InputError(f"the label column '{target}' has missing values; drop those rows first")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(f"the label column '{target}' has missing values; drop those rows first")
    classes: list[Any] = np.unique(labels).tolist()
    if schema is not None and schema.label is not None and schema.label.name == target and schema.label.classes:
        declared = {class_key(name): name for name in schema.label.classes}
        known = {class_key(value): value for value in classes}
        if not known.keys() <= declared.keys():
            raise InputError(f"the label column '{target}' has a class the schema does not list")
        as_found = type(classes[0])
        classes = sorted(known[key] if key in known else as_found(name) for key, name in declared.items())
    elif len(classes) == 1:
        raise InputError(f"the label column '{target}' has one class only: there is nothing to learn")
    if len(classes) != 2:
        raise InputError(
            f"Only binary classification is supported. The type of the target is multiclass: '{target}' has "
            f"{len(classes)} classes"
        )
    return classes


class SecretModel:
    """A handle on a model whose shares the three parties hold. It cannot show a tree: :meth:`reveal` asks for that."""

    def __init__(self, facts: ModelFacts, trees: Sequence[SharedTree]) -> None:
        self.facts = facts
        self._trees = list(trees)

    def __repr__(self) -> str:
        shape = self.facts.shape
        return f"SecretModel({shape.attributes} attributes, height {shape.height}, shared among three parties)"

    def _rows(self, columns: Sequence[Values]) -> npt.NDArray[np.uint64]:
        return np.stack(self.facts.doubled(columns))

    def labels(self, columns: Sequence[Values], ticked: Ticked | None = None) -> Values:
        """Predicted classes; only these are opened."""
        numbers = local_parties().labels(self._trees, self._rows(columns), self.facts.shape, ticked)
        return self.facts.labels(numbers)

    def probabilities(self, columns: Sequence[Values], ticked: Ticked | None = None) -> npt.NDArray[np.float64]:
        """Probabilities ``[row, class]``, in steps of 2^-16; only these are opened."""
        if not self._trees[0].counts:
            raise InputError("this model has no class counts, so no probabilities: train it with algorithm 'fast'")
        found: npt.NDArray[np.float64] = local_parties().probabilities(
            self._trees, self._rows(columns), self.facts.shape, ticked
        )
        return found

    def confusion(
        self, columns: Sequence[Values], labels: Values, ticked: Ticked | None = None
    ) -> npt.NDArray[np.int64]:
        """The confusion matrix ``[true, predicted]``; nothing else is opened, no prediction either."""
        truth = self.facts.class_numbers(labels)
        return local_parties().confusion(
            self._trees, self._rows(columns), truth, self.facts.shape, len(self.facts.classes), ticked
        )

    def reveal(self, counts: bool = False) -> RevealedTree:
        """Open the tree; with ``counts`` also how many training rows of each class reached its nodes."""
        return reveal_tree(self._trees, self.facts, counts)

    def save(self, directory: Path) -> None:
        """Write one directory for every party."""
        save_model([PartyModel(self.facts, party, tree) for party, tree in enumerate(self._trees)], directory)

    @staticmethod
    def load(directory: Path) -> SecretModel:
        """Read what :meth:`save` wrote."""
        models = load_model(directory)
        return SecretModel(models[0].facts, [model.tree for model in models])


@dataclass(frozen=True, slots=True)
class Trained:
    """A model and what its training took."""

    model: SecretModel
    reports: list[PartyReport]


def train_secret(prepared: Prepared, progress: Progress | None = None) -> Trained:
    """Share a prepared table among the local parties and train."""
    facts = prepared.facts
    outcome = local_parties().train(prepared.x, prepared.y, facts.shape, facts.algorithm, progress)
    return Trained(SecretModel(facts, outcome.value), outcome.reports)
