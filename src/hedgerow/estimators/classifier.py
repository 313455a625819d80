"""``hedgerow.DecisionTreeClassifier``: scikit-learn's interface, secret-shared inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .secret import SecretModel
from .tree import SecretTree

if TYPE_CHECKING:
    from ..service.remote_model import RemoteModel


class DecisionTreeClassifier(ClassifierMixin, SecretTree):  # type: ignore[misc]
    """A decision tree for two or more classes, trained exactly on data that is secret-shared among three parties.

    ``fit`` plays the data owner: it splits the table into shares and has three local party processes train on them.
    Afterwards the model exists only as the parties' shares; ``predict`` opens predictions and nothing else, and
    :meth:`reveal` opens the tree. Local parties protect nobody from the person at this machine.

    Parameters
    ----------
    max_depth : int, default=5
        Height of the tree: public, and the bound on its growth.
    criterion : {"gini", "entropy", "log_loss", "gain_ratio"}, default="gini"
        What makes a split good. Entropy ("log_loss" is the same) has logarithms of 32 binary places; "gain_ratio" is
        C4.5's, without its filter of splits that gain less than the average.
    algorithm : {"fast", "paper"}, default="fast"
        "fast" is the exact trainer of docs/protocols/trainer.md, "paper" HIKC23 as written (two classes, numbers only).
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        The fewest rows of a node that is split, and on either side of a split; a fraction is a share of all rows.
    min_impurity_decrease : float, default=0
        A split must lower the impurity of the whole table by this much; compared exactly, as the decimal it is.
    class_weight : dict, "balanced" or None, default=None
        Weights by class. Fractions are scaled to whole numbers, rounded where those get too large (see ``rounding_``).
        Weights in a dict are public; "balanced" weighs rows in secret.
    categorical_features : list of names, places or a mask, or None, default=None
        Columns that are categories, tested for equality; naming them says that their values may become public. By
        default columns of few, often repeated texts, with a warning; other columns of text are refused.
    schema : Schema, path or None, default=None
        Declared columns (see ``hedgerow inspect``). Without it the fewest decimals that keep a column exactly are
        found; columns that a few decimals cannot represent are rounded, see ``rounding_``.
    consortium, identity : path or None, default=None
        For :meth:`fit_dataset`: a ``consortium.toml`` and the directory of your key and certificate (by default the
        same directory). :meth:`fit` refuses them: it would train on local parties.
    verbose : int, default=0
        1 prints what becomes public, layers and steps. The logger "hedgerow" has the same at level INFO.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    model_ : SecretModel
        A handle on the parties' shares.
    schema_ : Schema
        The columns as they were encoded.
    rounding_ : dict
        Per rounded column the largest difference between a value and what was kept of it (for ``class_weight`` the
        largest relative one); empty if all is exact.
    """

    def __init__(
        self,
        max_depth: int = 5,
        *,
        criterion: str = "gini",
        algorithm: str = "fast",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        categorical_features: Any = None,
        schema: Any = None,
        consortium: Any = None,
        identity: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.criterion = criterion
        self.algorithm = algorithm
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.schema = schema
        self.consortium = consortium
        self.identity = identity
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DecisionTreeClassifier:  # noqa: N803
        """Train on rows ``X`` (NumPy, pandas, polars or pyarrow; NaN is a missing value) and labels ``y``.

        ``sample_weight`` is kept secret; rows of weight 0 are ignored, and nobody can tell which they are. Whole
        numbers are kept as they are, fractions rounded in proportion to the largest (see docs/guide/how-to.md).
        """
        return self._learn(X, y, sample_weight, check_classification_targets)

    def _keep(self, model: SecretModel | RemoteModel) -> None:
        super()._keep(model)
        weights = model.facts.problem.class_weights
        if weights:
            self.class_weight = dict(zip(model.facts.classes, weights, strict=True))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, in the order of probabilities and of the confusion matrix."""
        try:
            return np.asarray(self.model_.facts.classes)
        except AttributeError:
            raise AttributeError("classes_ is known after fit") from None

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Shares of each class in the weight of the training rows of a row's leaf, in steps of 2^-16."""
        columns = self._columns(X)
        return self.model_.probabilities(columns)

    def confusion(self, X: Any, y: Any) -> npt.NDArray[np.int64]:  # noqa: N803
        """The confusion matrix ``[true, predicted]`` on secret rows and labels: nothing but its entries is opened."""
        columns = self._columns(X)
        return self.model_.confusion(columns, self._truth(y, len(columns[0])))
