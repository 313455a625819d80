"""A secret-shared model at three local parties, and what may be asked of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, SharesTogetherWarning
from ..models import ModelFacts, PartyModel, RevealedTree, load_model, reveal_tree, save_model
from ..parties import PartyReport, Progress, RowProgress, local_parties
from ..trees.predict import Errors
from ..trees.shared_tree import SharedTree
from .prepare import EncodedTable

Values = npt.NDArray[Any]


class SecretModel:
    """A handle on a model whose shares the three parties hold. It cannot show a tree: :meth:`reveal` asks for that."""

    def __init__(self, facts: ModelFacts, trees: Sequence[SharedTree]) -> None:
        self.facts = facts
        self._trees = list(trees)

    def __repr__(self) -> str:
        problem = self.facts.problem
        return f"SecretModel({problem.attributes} attributes, height {problem.height}, shared among three parties)"

    def __getstate__(self) -> dict[str, Any]:
        """Pickling puts all three parties' shares into one stream; whoever reads it can open the tree."""
        warnings.warn(
            "a pickle holds all three parties' shares of the model: whoever reads it can open the tree, and reading a "
            "pickle runs code. Use save() for one private directory per party, or hedgerow.dump() for one private file",
            SharesTogetherWarning,
            stacklevel=2,
        )
        return self.__dict__.copy()

    def _rows(self, columns: Sequence[Values]) -> npt.NDArray[np.uint64]:
        return np.stack(self.facts.doubled(columns))

    def labels(self, columns: Sequence[Values], ticked: RowProgress | None = None) -> Values:
        """Predicted classes or estimates; only these are opened."""
        numbers = local_parties().labels(self._trees, self._rows(columns), self.facts.problem, ticked)
        return self.facts.labels(numbers)

    def probabilities(self, columns: Sequence[Values], ticked: RowProgress | None = None) -> npt.NDArray[np.float64]:
        """Probabilities ``[row, class]``, in steps of 2^-16; only these are opened."""
        self.facts.need_classes()
        if not self._trees[0].counts:
            raise InputError("this model has no class counts, so no probabilities: train it with algorithm 'fast'")
        found: npt.NDArray[np.float64] = local_parties().probabilities(
            self._trees, self._rows(columns), self.facts.problem, ticked
        )
        return found

    def _evaluated(self, columns: Sequence[Values], labels: Values, ticked: RowProgress | None) -> Any:
        return local_parties().evaluation(
            self._trees, self._rows(columns), self.facts.truth(labels), self.facts.problem, ticked
        )

    def confusion(
        self, columns: Sequence[Values], labels: Values, ticked: RowProgress | None = None
    ) -> npt.NDArray[np.int64]:
        """The confusion matrix ``[true, predicted]``; nothing else is opened, no prediction either."""
        return self.facts.matrix(self._evaluated(columns, labels, ticked))

    def errors(self, columns: Sequence[Values], labels: Values, ticked: RowProgress | None = None) -> Errors:
        """Mean squared error and R² of a regression tree; only the three sums they need are opened."""
        return self.facts.errors(self._evaluated(columns, labels, ticked), len(labels))

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


def train_secret(prepared: EncodedTable, progress: Progress | None = None) -> Trained:
    """Share a prepared table among the local parties and train."""
    facts = prepared.facts
    outcome = local_parties().train(prepared.x, prepared.y, facts.problem, facts.algorithm, progress, prepared.weights)
    return Trained(SecretModel(facts, outcome.value), outcome.reports)
