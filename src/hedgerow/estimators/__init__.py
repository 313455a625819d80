"""The face that scikit-learn's users know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names
from ..trees.rules import TrainingRules
from .prepare import EncodedTable, prepare
from .secret import SecretModel, train_secret

if TYPE_CHECKING:
    from .classifier import DecisionTreeClassifier
    from .regressor import DecisionTreeRegressor

# They bring scikit-learn with them.
__getattr__ = lazy_names(__name__, __file__)
