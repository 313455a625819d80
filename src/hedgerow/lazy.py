"""Names of a module that are loaded when first asked for."""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str) -> Callable[[str], Any]:
    """A module's ``__getattr__``: every name that ``file`` imports for type checkers alone is loaded on first use."""
    homes: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                home = "." * line.level + (line.module or "")
                homes.update({name.asname or name.name: (home, name.name) for name in line.names})

    def get(name: str) -> Any:
        if name in homes:
            home, there = homes[name]
            return getattr(importlib.import_module(home, package), there)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return get
