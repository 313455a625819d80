"""Hedgerow: decision trees trained on data that nobody may see, by three parties on secret shares alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import (
        HedgerowError,
        InputError,
        MissingValueWarning,
        PublicationWarning,
        RoundingWarning,
        SharesTogetherWarning,
    )
    from .estimators import DecisionTreeClassifier, DecisionTreeRegressor
    from .estimators.file import dump, load
    from .tables import Column, Schema, read_schema, write_schema

__version__ = "0.1.0"
__all__ = [
    "Column",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "HedgerowError",
    "InputError",
    "MissingValueWarning",
    "PublicationWarning",
    "RoundingWarning",
    "Schema",
    "SharesTogetherWarning",
    "__version__",
    "dump",
    "load",
    "read_schema",
    "write_schema",
]

_HOMES = {
    **dict.fromkeys(("DecisionTreeClassifier", "DecisionTreeRegressor"), "hedgerow.estimators"),
    **dict.fromkeys(("dump", "load"), "hedgerow.estimators.file"),
    **dict.fromkeys(("Column", "Schema", "read_schema", "write_schema"), "hedgerow.tables"),
    **dict.fromkeys((name for name in __all__ if name.endswith(("Error", "Warning"))), "hedgerow.errors"),
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first asked for: estimators bring scikit-learn and the compiled kernels with them."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'hedgerow' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
