"""Hedgerow: decision trees trained on data that nobody may see, by three parties on secret shares alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"
__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor", "__version__"]

_HOMES = dict.fromkeys(__all__[:-1], "hedgerow.estimators")


def __getattr__(name: str) -> Any:
    """Estimators are loaded when first asked for: they bring scikit-learn and the compiled kernels with them."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'hedgerow' has no attribute '{name}'")
