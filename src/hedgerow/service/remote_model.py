"""A model that three parties hold; the same face as a local one's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..models import ModelFacts, RevealedTree
from ..parties import RowProgress
from ..trees.predict import Errors, probability_table

if TYPE_CHECKING:
    from .client import Client


class RemoteModel:
    """A handle on a model that stays with the parties."""

    def __init__(self, client: Client, facts: ModelFacts) -> None:
        self._client = client
        self.facts = facts

    def __repr__(self) -> str:
        return f"RemoteModel({self.facts.identity}, height {self.facts.problem.height})"

    def labels(self, columns: Sequence[npt.NDArray[Any]], ticked: RowProgress | None = None) -> npt.NDArray[Any]:
        """Predicted classes or estimates, opened here alone."""
        (numbers,) = self._client.ask("predict", self.facts.identity, self.facts.doubled(columns), ticked)
        return self.facts.labels(numbers)

    def probabilities(
        self, columns: Sequence[npt.NDArray[Any]], ticked: RowProgress | None = None
    ) -> npt.NDArray[np.float64]:
        """Probabilities ``[row, class]``, opened here alone."""
        self.facts.need_classes()
        found = self._client.ask("probabilities", self.facts.identity, self.facts.doubled(columns), ticked)
        return probability_table(found)

    def _evaluated(
        self, columns: Sequence[npt.NDArray[Any]], labels: npt.NDArray[Any], ticked: RowProgress | None
    ) -> Any:
        rows = [*self.facts.doubled(columns), self.facts.truth(labels)]
        (opened,) = self._client.ask("evaluate", self.facts.identity, rows, ticked)
        return opened

    def confusion(
        self, columns: Sequence[npt.NDArray[Any]], labels: npt.NDArray[Any], ticked: RowProgress | None = None
    ) -> npt.NDArray[np.int64]:
        """The confusion matrix ``[true, predicted]``, opened here alone."""
        self.facts.need_classes()
        return self.facts.matrix(self._evaluated(columns, labels, ticked))

    def errors(
        self, columns: Sequence[npt.NDArray[Any]], labels: npt.NDArray[Any], ticked: RowProgress | None = None
    ) -> Errors:
        """Mean squared error and R²; the three sums they need are opened here alone."""
        return self.facts.errors(self._evaluated(columns, labels, ticked), len(labels))

    def reveal(self, counts: bool = False) -> RevealedTree:
        """The tree, if every party's policy allows it."""
        return self._client.reveal(self.facts, counts)
