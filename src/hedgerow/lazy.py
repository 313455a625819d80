"""Names of a package that are loaded when first asked for."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``: ``homes`` says for every name in which module of the package it is."""

    def get(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(f".{homes[name]}", package), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return get
