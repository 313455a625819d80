"""The face that scikit-learn's users know."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..trees.rules import TrainingRules
from .prepare import EncodedTable, prepare
from .secret import SecretModel, train_secret

if TYPE_CHECKING:
    from .classifier import DecisionTreeClassifier
    from .regressor import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "EncodedTable",
    "SecretModel",
    "TrainingRules",
    "prepare",
    "train_secret",
]

_HOMES = {"DecisionTreeClassifier": ".classifier", "DecisionTreeRegressor": ".regressor"}


def __getattr__(name: str) -> Any:
    """Estimators are loaded when first asked for: they bring scikit-learn with them."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
