"""Hedgerow: decision trees trained on data that nobody may see, by three parties on secret shares alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_names

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

# Estimators bring scikit-learn with them, tables pyarrow.
__getattr__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
