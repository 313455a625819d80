"""The face that scikit-learn's users know."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .secret import Prepared, SecretModel, prepare, train_secret

if TYPE_CHECKING:
    from .classifier import DecisionTreeClassifier

__all__ = ["DecisionTreeClassifier", "Prepared", "SecretModel", "prepare", "train_secret"]


def __getattr__(name: str) -> Any:
    """The estimator is loaded when first asked for: it brings scikit-learn with it."""
    if name == "DecisionTreeClassifier":
        return importlib.import_module(".classifier", __name__).DecisionTreeClassifier
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
