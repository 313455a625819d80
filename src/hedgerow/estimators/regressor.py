"""``hedgerow.DecisionTreeRegressor``: scikit-learn's interface, secret-shared inside."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_y

from ..trees.predict import Errors
from .tree import SecretTree


class DecisionTreeRegressor(RegressorMixin, SecretTree):  # type: ignore[misc]
    """A regression tree (squared error), trained exactly on data that is secret-shared among three parties.

    Targets are kept in fixed point: exactly where the rows leave enough bits, else rounded (see ``rounding_``). Splits
    are exact for what was kept. A leaf's mean is divided in secret, down to 2^-16 of the target's last decimal; it is
    what ``predict`` opens. Unlike in scikit-learn, a node is split only if that lowers the squared error.

    Parameters and attributes are those of :class:`hedgerow.DecisionTreeClassifier`, without what concerns classes.
    """

    def __init__(
        self,
        max_depth: int = 5,
        *,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        categorical_features: Any = None,
        schema: Any = None,
        consortium: Any = None,
        identity: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.schema = schema
        self.consortium = consortium
        self.identity = identity
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DecisionTreeRegressor:  # noqa: N803
        """Train on rows ``X`` (NumPy, pandas, polars or pyarrow; NaN is a missing value) and numbers ``y``.

        ``sample_weight`` is kept secret; rows of weight 0 are ignored, and nobody can tell which they are.
        """
        return self._learn(X, y, sample_weight, lambda labels: _check_y(labels, y_numeric=True, estimator=self))

    def errors(self, X: Any, y: Any) -> Errors:  # noqa: N803
        """Mean squared error and R² on secret rows and targets: three sums are opened, no estimate."""
        columns = self._columns(X)
        return self.model_.errors(columns, self._truth(y, len(columns[0])))
